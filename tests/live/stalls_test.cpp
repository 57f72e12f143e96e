// Who makes whom wait for memory: programs that take memory at known rates, in memory cgroups of
// the test's own.
#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

// A memory cgroup with two more in it, so that the limit is not that of the processes' own.
class StallsTest : public PressureTest {
 protected:
  // Shell words that run take_memory in a cgroup below `group`; it is made for that.
  static std::string take_in(const MemoryGroup& group,
                             const std::string& below,
                             const char* words) {
    const std::string path = group.path() + "/" + below;
    return "(mkdir -p " + path + " && echo 0 > " + path +
           "/cgroup.procs && exec $PUPPETS/take_memory " + words + ") & ";
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

  // Of stalls of this kind, or of all.
  static Waited waited(const Json& report,
                       const char* aggressor,
                       const char* victim,
                       const char* kind = nullptr) {
    Waited waited;
    for (const Json& row : report.at("tables").at(0).at("rows")) {
      if (row.at("victim") != victim || (kind != nullptr && row.at("kind") != kind)) {
        continue;
      }
      const double time_ns = row.at("time_ns").get<double>();
      waited.in_all_ns += time_ns;
      waited.by_aggressor_ns += row.at("aggressor") == aggressor ? time_ns : 0;
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
  const std::uint64_t swapped_ns = figure_of(report("swapin --by comm"), "comm", "mt-web", "time");
  EXPECT_LE(web.in_all_ns, static_cast<double>(swapped_ns) + 10)
      << "reclaim in a fault is taken off";
  RecordProperty("share_of_web", std::to_string(web.share()));
}

TEST_F(StallsTest, compaction_is_caused_by_who_takes_large_blocks) {
  record(
      "-a --for stalls,compaction -- sh -c '$PUPPETS/press_memory holes 16384 > ready & "
      "until grep -q ready ready; do kill -0 $! || exit 1; sleep 0.05; done; echo 1 > "
      "/proc/sys/vm/compact_memory; kill $!'");
  const Json stalls = report("stalls");
  const Json waits = row_of(stalls, 1, "victim", "sh");
  ASSERT_FALSE(waits.is_null()) << stalls.dump(1);
  EXPECT_GT(waits.at("compaction_ns").get<std::uint64_t>(), 0U);
  EXPECT_EQ(waits.at("compaction_ns").get<std::uint64_t>(),
            figure_of(report("compaction --by comm"), "comm", "sh", "time_ns"));
  // Other programs of the machine take blocks, too; of ours it is nearly all.
  const double by_press = waited(stalls, "press_memory", "sh").by_aggressor_ns;
  const double by_itself = waited(stalls, "sh", "sh").by_aggressor_ns;
  EXPECT_GT(by_press, 0) << stalls.dump(1);
  EXPECT_GE(by_press, 9 * by_itself) << stalls.dump(1);
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
