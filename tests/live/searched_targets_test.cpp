// record --uid, --cgroup and --comm: whose events are recorded at all.
#include <filesystem>
#include <fstream>

#include "live/live_test.h"
#include "live/memory_group.h"

namespace memtrace::test {
namespace {

constexpr const char* kOwnMessages = "-e kmem:kmalloc,kmem:kfree --filter 'bytes_req == 1048' ";

class SearchedTargetsTest : public LiveTest {
 protected:
  // 100 messages of a thread beside the main one and of a child that starts later, all watched with
  // these words, beside a process that nobody asked for.
  std::uint64_t messages_of_crowd(const std::string& enter, const std::string& words) {
    run_well("mkfifo go");
    const auto crowd = start(enter + "$PUPPETS/crowd 100 < go");
    std::ofstream go(dir_.file("go"));  // opens when crowd has opened its end
    EXPECT_TRUE(wait_until([&] { return !crowd->out().empty(); }));
    const auto memtrace = start_recording("exec $MEMTRACE record " + words + kOwnMessages);
    run_well("$PUPPETS/many_kmallocs 50");
    go << "go\n" << std::flush;
    EXPECT_EQ(crowd->wait().status, 0);
    const Outcome outcome = memtrace->wait();  // ends as its target does
    EXPECT_EQ(outcome.status, 0) << outcome.all();
    return report("kmalloc").at("totals").at("count");
  }

  // With -p, which the other tests of targets hold against the puppet's own count.
  std::uint64_t all_messages_ = 500;
};

TEST_F(SearchedTargetsTest, processes_of_a_user_and_their_children) {
  EXPECT_EQ(messages_of_crowd("exec setpriv --reuid=nobody --clear-groups ", "--uid nobody "),
            all_messages_);
}

TEST_F(SearchedTargetsTest, processes_in_a_cgroup_and_their_children) {
  const MemoryGroup group(dir_.path(), std::uint64_t{256} << 20U);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  EXPECT_EQ(messages_of_crowd("exec sh enter.sh ",
                              "--cgroup memtrace_test_" + std::to_string(::getpid()) + " "),
            all_messages_);
}

TEST_F(SearchedTargetsTest, threads_of_a_name_are_filtered_by_the_kernel) {
  run_well("cp $PUPPETS/many_kmallocs other");
  const Outcome outcome =
      run_well("$MEMTRACE record -a --comm 'many_k*' " + std::string(kOwnMessages) +
               "-- sh -c '$PUPPETS/many_kmallocs 200; ./other 300'");
  EXPECT_EQ(report("kmalloc").at("totals").at("count"), 200U) << outcome.all();
  EXPECT_EQ(own_counts("memtrace.data")["kmem:kmalloc"], 200U) << "others are not in the file";
  EXPECT_GE(own_counts("memtrace.data")["kmem:kfree"], 500U) << "frees are of all threads";
}

TEST_F(SearchedTargetsTest, as_many_as_perf_records_with_the_same_filter) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  run_well(
      "perf record -q -a -o perf.data -e kmem:kmalloc --filter 'comm == \"many_kmallocs\"' -- "
      "$MEMTRACE record -a --comm many_kmallocs -e kmem:kmalloc -- $PUPPETS/many_kmallocs 200");
  EXPECT_EQ(own_counts("memtrace.data")["kmem:kmalloc"], perf_counts("perf.data")["kmem:kmalloc"]);
}

}  // namespace
}  // namespace memtrace::test
