// Who makes whom wait for memory: programs that take memory at known rates, in memory cgroups of
// the test's own.
#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

// A memory cgroup with two more in it, so that the limit is not that of the processes' own.
class StallsTest : public PressureTest {
 protected:
  // Shell words that begin a subshell in a cgroup below `group`; it is made for that.
  static std::string in(const MemoryGroup& group, const std::string& below) {
    const std::string path = group.path() + "/" + below;
    return "(mkdir -p " + path + " && echo 0 > " + path + "/cgroup.procs && exec ";
  }

  static std::string take_in(const MemoryGroup& group,
                             const std::string& below,
                             const std::string& words) {
    return in(group, below) + "$PUPPETS/take_memory " + words + ") & ";
  }

  static void remove_below(const MemoryGroup& group, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      std::error_code error;
      for (int tries = 0; tries < 100; ++tries) {
        if (std::filesystem::remove(group.path() + "/" + name, error) || !error) {
          break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    }
  }

  struct Waited {
    double by_aggressor_ns = 0;
    double in_all_ns = 0;

    double share() const { return in_all_ns > 0 ? by_aggressor_ns / in_all_ns : 0; }
  };

  // By its name, or by the last part of its cgroup's.
  static bool is_actor(const Json& actor, const std::string& name) {
    const std::string text = actor.is_string() ? actor.get<std::string>() : "";
    const std::string end = "/" + name;
    return text == name || (text.size() > end.size() &&
                            text.compare(text.size() - end.size(), end.size(), end) == 0);
  }

  // Of stalls of this kind, or of all.
  static Waited waited(const Json& report,
                       const char* aggressor,
                       const char* victim,
                       const char* kind = nullptr) {
    Waited waited;
    for (const Json& row : report.at("tables").at(0).at("rows")) {
      if (!is_actor(row.at("victim"), victim) || (kind != nullptr && row.at("kind") != kind)) {
        continue;
      }
      const double time_ns = row.at("time_ns").get<double>();
      waited.in_all_ns += time_ns;
      waited.by_aggressor_ns += is_actor(row.at("aggressor"), aggressor) ? time_ns : 0;
    }
    return waited;
  }
};

TEST_F(StallsTest, who_fills_the_cgroup_is_the_aggressor_of_all_in_it) {
  const MemoryGroup group(dir_.path(), 32 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  run_well("$MEMTRACE record -a --for stalls,reclaim -- sh -c '" +
           take_in(group, "hog", "file mt-hog 1000 500 hog.data") +
           take_in(group, "web", "file mt-web 1000 4 web.data") +
           "$PUPPETS/take_memory file mt-free 1000 40 free.data; wait'");
  remove_below(group, {"hog", "web"});
  const Json stalls = report("stalls");
  const Waited web = waited(stalls, "mt-hog", "mt-web");
  EXPECT_GT(web.in_all_ns, 0) << stalls.dump(1);
  EXPECT_GE(web.share(), 0.9) << stalls.dump(1);
  const Waited hog = waited(stalls, "mt-hog", "mt-hog");
  EXPECT_GE(hog.share(), 0.9) << stalls.dump(1);
  for (const Json& row : stalls.at("tables").at(0).at("rows")) {
    EXPECT_NE(row.at("victim"), "mt-free") << "it is in no cgroup that is full";
    EXPECT_FALSE(row.at("aggressor") == "mt-free" && begins_with(row.at("victim"), "mt-")) << row;
  }
  EXPECT_GE(waited(report("stalls --by cgroup"), "hog", "web").share(), 0.9);
  // The same waits, by a view that asks for no causes.
  const std::uint64_t reclaimed_ns = figure_of(report("reclaim"), "comm", "mt-web", "time_ns");
  EXPECT_NEAR(web.in_all_ns, static_cast<double>(reclaimed_ns), 10);
  RecordProperty("share_of_web", std::to_string(web.share()));
}

TEST_F(StallsTest, who_thrashes_is_the_aggressor_of_swap_ins) {
  const SwapFile swap(dir_.path() + "/swap", 96);
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  if (!swap.usable() || !group.usable()) {
    GTEST_SKIP() << "no swap file or no memory cgroup can be made here";
  }
  Json by_kind;
  Waited web;
  // Its few pages may stay in memory all the time.
  for (int tries = 0; tries < 3 && web.in_all_ns <= 0; ++tries) {
    run_well("$MEMTRACE record -a --for stalls,swapin -- sh -c '" +
             take_in(group, "hog", "anon mt-hog 1600 8000 0") +
             take_in(group, "web", "anon mt-web 1600 300 400") + "wait'");
    by_kind = report("stalls --by comm,kind");
    web = waited(by_kind, "mt-hog", "mt-web", "swapin");
  }
  remove_below(group, {"hog", "web"});
  EXPECT_GT(web.in_all_ns, 0) << by_kind.dump(1);
  EXPECT_GE(web.share(), 0.9) << by_kind.dump(1);
  EXPECT_GE(waited(report("stalls --by cgroup,kind"), "hog", "web", "swapin").share(), 0.9);
  const std::uint64_t swapped_ns = figure_of(report("swapin --by comm"), "comm", "mt-web", "time");
  EXPECT_LE(web.in_all_ns, static_cast<double>(swapped_ns) + 10)
      << "reclaim in a fault is taken off";
  RecordProperty("share_of_web", std::to_string(web.share()));
}

// The limit is never reached: the memory of the machine is what is moved. What the hog gives back
// within a twentieth of --before counts as given back before the stall: it lives for longer.
TEST_F(StallsTest, compaction_is_caused_by_who_takes_large_blocks) {
  const MemoryGroup group(dir_.path(), 4096 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  record("-a --for stalls,compaction -- sh -c '" + in(group, "hog") +
         "$PUPPETS/press_memory holes 16384 > ready) & "
         "until grep -q ready ready; do kill -0 $! || exit 1; sleep 0.05; done; " +
         in(group, "web") +
         "sh -c \"echo 1 > /proc/sys/vm/compact_memory\"); sleep 0.8; kill $!; wait'");
  remove_below(group, {"hog", "web"});
  // On a busy machine a second may pass before the shell is there.
  const Json stalls = report("stalls --by cgroup,kind --before 10s");
  // Other programs of the machine take blocks, too; of ours it is nearly all.
  const double by_hog = waited(stalls, "hog", "web", "compaction").by_aggressor_ns;
  const double by_itself = waited(stalls, "web", "web", "compaction").by_aggressor_ns;
  EXPECT_GT(by_hog, 0) << stalls.dump(1);
  EXPECT_GE(by_hog, 9 * by_itself) << stalls.dump(1);
  const Json waits = row_of(report("stalls"), 1, "victim", "sh");
  ASSERT_FALSE(waits.is_null());
  EXPECT_EQ(waits.at("compaction_ns").get<std::uint64_t>(),
            figure_of(report("compaction --by comm"), "comm", "sh", "time_ns"));
  RecordProperty("share_of_web", std::to_string(by_hog / (by_hog + by_itself)));
}

// The kernel gives each writer the same share of the disk, however much it wants: thirty-two make
// thirty-two times as many pages dirty as one.
TEST_F(StallsTest, who_dirties_most_pages_is_the_aggressor_of_who_is_throttled) {
  const Setting background_ratio("/proc/sys/vm/dirty_background_ratio");
  const Setting ratio("/proc/sys/vm/dirty_ratio");
  const Setting background_bytes("/proc/sys/vm/dirty_background_bytes");
  const Setting bytes("/proc/sys/vm/dirty_bytes");
  const MemoryGroup group(dir_.path(), 4096 * kMebibyte);
  if (!group.usable() || text_of("/proc/sys/vm/dirty_bytes") != "0\n") {
    GTEST_SKIP() << "no memory cgroup can be made, or vm.dirty_bytes is in use here";
  }
  background_bytes.set(kMebibyte);
  bytes.set(2 * kMebibyte);
  std::string hogs;
  for (int number = 0; number < 32; ++number) {
    hogs += take_in(group, "hog", "write mt-hog 1500 64 hog" + std::to_string(number));
  }
  run_well("$MEMTRACE record -a --for stalls,writeback -- sh -c '" + hogs +
           take_in(group, "web", "write mt-web 1500 64 web") + "wait'");
  remove_below(group, {"hog", "web"});
  const Json stalls = report("stalls --by cgroup,kind");
  // Other programs of the machine and the kernel's own threads write, too; of ours it is nearly
  // all.
  const double by_hog = waited(stalls, "hog", "web", "throttled").by_aggressor_ns;
  const double by_itself = waited(stalls, "web", "web", "throttled").by_aggressor_ns;
  EXPECT_GT(by_hog, 0) << stalls.dump(1);
  EXPECT_GE(by_hog, 9 * by_itself) << stalls.dump(1);
  RecordProperty("share_of_web", std::to_string(by_hog / (by_hog + by_itself)));
}

TEST_F(StallsTest, live_intervals_have_their_own_stalls) {
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  const Json live =
      json_of("$MEMTRACE stalls -a --format json --by comm -- " + group.enter() +
              "$PUPPETS/take_memory file mt-hog 700 200 hog.data | sed '/^mt-hog /d'");
  EXPECT_GE(waited(live, "mt-hog", "mt-hog").share(), 0.9) << live.dump(1);
}

}  // namespace
}  // namespace memtrace::test
