// User probes on a real kernel: they count what a program calls, and nothing of them stays behind.
#include <set>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

class ProbesTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped() && !std::filesystem::exists("/sys/kernel/tracing/uprobe_events")) {
      GTEST_SKIP() << "no uprobe_events here";
    }
  }

  static std::string libc() {
    for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"}) {
      if (std::filesystem::exists(path)) {
        return path;
      }
    }
    return "";
  }

  // A script in which $PROBE is a probe on `function` of libc; it is gone at the script's end.
  Outcome run_with_probe(const std::string& function_and_place, const std::string& script) {
    return run_well("mkfifo hold; $PUPPETS/hold_probe " + libc() + " " + function_and_place +
                    " <hold >held & exec 9>hold\n"
                    "while ! grep -q : held && kill -0 $!; do sleep 0.02; done\n"
                    "PROBE=$(sed -n 's/ +.*//p;' held | grep :)\n" +
                    script + "\nexec 9>&-; wait $!");
  }

  static std::string defined() { return text_of("/sys/kernel/tracing/uprobe_events"); }

  // More calls than of a program that makes none: those of its start-up are left out.
  long counted(const std::string& function_and_place) {
    const std::string count = "perf stat -x, -e $PROBE -- $PUPPETS/heap_calls ";
    const Outcome outcome =
        run_with_probe(function_and_place,
                       count + "0 2>none >/dev/null; " + count +
                           "1500 2>many >/dev/null; cut -d, -f1 none many; rm hold");
    std::istringstream words(outcome.out);
    long none = 0;
    long many = 0;
    words >> none >> many;
    return many - none;
  }
};

TEST_F(ProbesTest, calls_are_counted_exactly_wherever_the_probe_is) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  for (const char* probe :
       {"malloc entry", "malloc place", "malloc return", "free entry", "free place", "free free"}) {
    EXPECT_EQ(counted(probe), 1500) << probe;
  }
}

TEST_F(ProbesTest, nothing_stays_defined_at_the_end) {
  const Outcome outcome = run_with_probe("free free",
                                         "grep $(echo $PROBE | tr : /) "
                                         "/sys/kernel/tracing/uprobe_events");
  EXPECT_NE(outcome.out.find("memtrace_heap_"), std::string::npos);
  EXPECT_EQ(defined().find(outcome.out.substr(2, outcome.out.find(' ') - 2)), std::string::npos);
}

TEST_F(ProbesTest, killed_process_leaves_a_probe_that_the_next_one_removes) {
  run("echo 'p:mtlivetest/others " + libc() + ":0x100' >>/sys/kernel/tracing/uprobe_events");
  const std::string killed = "mkfifo hold; exec 9<>hold; $PUPPETS/hold_probe " + libc() +
                             " malloc entry <&9 >held & "
                             "while ! grep -q : held; do sleep 0.02; done; kill -9 $!; wait $!; "
                             "sed -n 's/ +.*//p' held | grep :";
  std::string name = run(killed).out;
  ASSERT_NE(name.find(':'), std::string::npos);
  name = "p:" + name.substr(0, name.find(':')) + "/";
  EXPECT_NE(defined().find(name), std::string::npos);
  const Outcome next = run_well("$PUPPETS/hold_probe " + libc() + " free entry </dev/null");
  EXPECT_NE(next.out.find("stale"), std::string::npos);
  EXPECT_FALSE(next.out.starts_with("0 stale"));
  EXPECT_EQ(defined().find(name), std::string::npos);
  EXPECT_NE(defined().find("p:mtlivetest/others"), std::string::npos);
  run("echo '-:mtlivetest/others' >>/sys/kernel/tracing/uprobe_events");
}

TEST_F(ProbesTest, the_uprobe_pmu_gives_the_same_figures_as_tracefs) {
  need_perf();
  if (IsSkipped() || !std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type")) {
    GTEST_SKIP() << "needs perf and a kernel with the uprobe PMU";
  }
  // Of stacks and functions; ages differ from run to run.
  const auto rows_of = [](const Json& report) {
    std::multiset<std::string> rows;
    for (const Json& row : report.at("tables").at(0).at("rows")) {
      rows.insert((row.contains("stack") ? row.at("stack") : row.at("function")).dump() + " " +
                  row.at("count").dump() + " " + row.at("bytes").dump());
    }
    return rows;
  };
  std::multiset<std::string> leaks[2];
  std::multiset<std::string> calls[2];
  int way = 0;
  for (const char* name : {"tracefs", "pmu"}) {
    const std::string record = std::string("MEMTRACE_USER_PROBES=") + name + " $MEMTRACE record ";
    run_well(record + "-o user.data --for malloc,leaks -- $PUPPETS/heap_patterns all");
    leaks[way] = rows_of(report("leaks --top 0 -i user.data"));
    calls[way] = rows_of(report("malloc --by function -i user.data"));
    const EventCounts own = own_counts("user.data");
    EXPECT_EQ(own, perf_counts("user.data")) << name;
    ++way;
  }
  EXPECT_EQ(leaks[0], leaks[1]);
  EXPECT_EQ(calls[0], calls[1]);
  EXPECT_FALSE(leaks[1].empty());
}

TEST_F(ProbesTest, live_view_and_limits_by_the_uprobe_pmu) {
  if (!std::filesystem::exists("/sys/bus/event_source/devices/uprobe/type")) {
    GTEST_SKIP() << "this kernel has no uprobe PMU";
  }
  const Json live = json_of(
      "MEMTRACE_USER_PROBES=pmu $MEMTRACE leaks --top 0 --format json -- "
      "$PUPPETS/heap_patterns all 2>/dev/null | sed -n '/^{/,/^}/p'");
  EXPECT_EQ(sum_with_function(live, "(anonymous namespace)::leak_in_child", "bytes"), 2100U);
  const Outcome refused =
      run("MEMTRACE_USER_PROBES=pmu $MEMTRACE record --for malloc --min-bytes 100 -- "
          "$PUPPETS/heap_patterns all");
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("without tracefs the kernel cannot filter"), std::string::npos);
}

TEST_F(ProbesTest, what_cannot_be_probed_is_told_with_its_reason) {
  const Outcome folder = run("$PUPPETS/hold_probe /nowhere malloc entry </dev/null");
  EXPECT_TRUE(folder.says("/nowhere")) << folder.all();
  const Outcome typo = run("$PUPPETS/hold_probe " + libc() + " mallok entry </dev/null");
  EXPECT_TRUE(typo.says("did you mean malloc")) << typo.all();
}

}  // namespace
}  // namespace memtrace::test
