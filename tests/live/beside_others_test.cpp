// Other tools that watch the machine at the same time: what memtrace says stays the same.
#include <chrono>
#include <map>
#include <vector>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

class BesideOthersTest : public LiveTest {
 protected:
  // Rows whose stack goes from malloc to main.
  static std::uint64_t whole_stacks(const Json& malloc) {
    std::uint64_t whole = 0;
    for (const Json& row : malloc.at("tables").at(0).at("rows")) {
      const std::string stack = row.at("stack").dump();
      whole += stack.find("main") != std::string::npos ? row.at("count").get<std::uint64_t>() : 0;
    }
    return whole;
  }

  // How many lines of the script's output have this.
  std::size_t lines_of(const std::string& script, const std::string& pattern) {
    return std::stoul(run_well(script + " 2>/dev/null | grep -c '" + pattern + "'; true").out);
  }
};

TEST_F(BesideOthersTest, recorder_with_build_ids_leaves_names_and_stacks_as_they_are) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  const Outcome outcome = run_well(
      "begin_perf --buildid-mmap -a -e dummy -o perf.data >perf.out 2>&1 || exit 1\n"
      "$MEMTRACE record --for malloc -o beside.data -- $PUPPETS/heap_calls 300\n"
      "kill -INT $PERF; wait $PERF\n"
      "$MEMTRACE record --for malloc -o alone.data -- $PUPPETS/heap_calls 300");
  EXPECT_EQ(outcome.all().find("not the file that was recorded"), std::string::npos)
      << outcome.all();
  EXPECT_GT(lines_of("perf script -i perf.data --show-mmap-events -F comm", "heap_calls"), 0U)
      << "perf did not watch at the same time";
  const Json alone = report("malloc --top 0 -i alone.data");
  const Json beside = report("malloc --top 0 -i beside.data");
  EXPECT_GE(whole_stacks(alone), 300U);
  EXPECT_EQ(whole_stacks(beside), whole_stacks(alone));
  // For perf, too: a build id that is none would be the file's numbers.
  EXPECT_EQ(lines_of("perf script -i beside.data --show-mmap-events -F comm,ip",
                     "PERF_RECORD_MMAP2.*libc.* <"),
            0U);
}

constexpr const char* kFirst =
    "begin $MEMTRACE record -a -e minor-faults,major-faults --call-graph none -o first.data "
    "--ring-size 16M >first.out 2>&1; FIRST=$RECORDER\n";

// All software events of a fault share what the kernel fills in for the first of them.
TEST_F(BesideOthersTest, faults_that_others_record_too_are_read) {
  const Outcome outcome = run_well(
      std::string(kFirst) +
      "begin $MEMTRACE record -a -e minor-faults,major-faults --call-graph fp -o second.data "
      ">second.out 2>&1; SECOND=$RECORDER\n"
      "$PUPPETS/touch_pages 2000 >touched\n"
      "kill -INT $SECOND; wait $SECOND; kill -INT $FIRST; wait $FIRST; cat first.out second.out");
  EXPECT_EQ(outcome.all().find("could not be read"), std::string::npos) << outcome.all();
  std::vector<std::uint64_t> times;
  for (const char* file : {"first.data", "second.data"}) {
    const Json faults = report(std::string("count --by comm --top 0 -i ") + file);
    EXPECT_GE(figure_of(faults, "comm", "touch_pages"), 2000U) << faults.dump(1);
    EXPECT_EQ(faults.at("caveats").value("malformed", 0), 0);
    times.push_back(faults.at("start_ns"));
    times.push_back(faults.at("end_ns"));
  }
  EXPECT_LT(times[0], times[2]) << "the second began while the first one recorded";
  EXPECT_LT(times[3], times[1]) << "and ended before it";
}

// The kernel passes each event to the recorders that came later first.
TEST_F(BesideOthersTest, all_events_of_faults_stay_right_while_others_come_and_go) {
  constexpr std::uint64_t kPages = 2000;
  const std::string memtrace = "$MEMTRACE record -a -e page-faults,minor-faults,major-faults ";
  const Outcome outcome = run_well(
      memtrace +
      "--call-graph none -o first.data --ring-size 16M -d 7 >first.out 2>&1 & first=$!; "
      "sleep 1.5; " +
      memtrace +
      "--call-graph fp -o second.data -d 2 >second.out 2>&1 & second=$!; "
      "perf record -a -e page-faults,minor-faults -o perf.data -- sleep 2 >perf.out 2>&1 & "
      "perf=$!; sleep 1; $PUPPETS/touch_pages 2000 >touched; wait $second; wait $perf; "
      "$PUPPETS/touch_pages 2000 >touched; wait $first; cat first.out");
  EXPECT_EQ(outcome.all().find("could not be read"), std::string::npos) << outcome.all();
  const Json faults = report("count --by event,comm --top 0 -i first.data");
  EXPECT_EQ(faults.at("caveats").value("malformed", 0), 0);
  std::map<std::string, std::uint64_t> counts;
  for (const Json& row : faults.at("tables").at(0).at("rows")) {
    if (row.at("comm") == "touch_pages") {
      counts[row.at("event")] += row.at("count").get<std::uint64_t>();
    }
  }
  EXPECT_GE(counts["page-faults"], 2 * kPages) << faults.dump(1);
  EXPECT_GE(counts["minor-faults"], 2 * kPages) << faults.dump(1);
  // Those that began while it is named so end so, and none is counted as one of the others.
  EXPECT_EQ(counts["page-faults"], counts["minor-faults"] + counts["major-faults"])
      << faults.dump(1);
}

TEST_F(BesideOthersTest, recorders_that_come_and_go_leave_names_and_stacks_as_they_are) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  const std::string command =
      "-- sh -c '$PUPPETS/heap_calls 300; touch calm; sleep 4; "
      "$PUPPETS/heap_calls 300'; ";
  const std::string views = "$MEMTRACE record --for malloc,faults --ring-size 16M ";
  const Outcome outcome = run_well(
      "(while ! test -e calm; do sleep 0.1; done; "
      "perf record --buildid-mmap -a -e dummy -o dummy.data -- sleep 2 & "
      "perf record -a -e page-faults,minor-faults -o faults.data -- sleep 2 & "
      "$MEMTRACE record -a --for faults --call-graph fp -o second.data -d 2 & wait) "
      ">others.out 2>&1 & others=$!; " +
      views + "-o beside.data " + command + "wait $others; " + views + "-o alone.data " + command);
  EXPECT_EQ(outcome.all().find("not the file that was recorded"), std::string::npos)
      << outcome.all();
  const Json alone = report("malloc --top 0 -i alone.data");
  const Json beside = report("malloc --top 0 -i beside.data");
  EXPECT_GE(whole_stacks(alone), 600U);
  EXPECT_EQ(whole_stacks(beside), whole_stacks(alone));
  EXPECT_EQ(beside.at("totals").at("count"), alone.at("totals").at("count"));
  EXPECT_EQ(beside.at("caveats").value("malformed", 0), 0);
}

// The time of a sample by another clock is known as well as its ring is read often: on a machine
// that is busy with other work some tries may fail.
TEST_F(BesideOthersTest, faults_are_in_their_time_though_perf_has_another_clock) {
  constexpr int kTries = 8;
  need_perf();
  if (IsSkipped()) {
    return;
  }
  std::string why;
  for (int i = 0; i < kTries && !HasFailure(); ++i) {
    const auto begun = std::chrono::steady_clock::now();
    run_well(std::string(kFirst) +
             "begin_perf -a -g -c 1 -e minor-faults -o perf.data >perf.out 2>&1 || exit 1\n"
             "$PUPPETS/touch_pages 2000 >touched\n"
             "kill -INT $PERF; wait $PERF; kill -INT $FIRST; wait $FIRST");
    const std::chrono::nanoseconds lasted = std::chrono::steady_clock::now() - begun;
    EXPECT_GE(lines_of("perf script -i perf.data -G -F comm", "touch_pages"), 2000U);
    const Json faults = report("count --by comm --top 0 -i first.data");
    EXPECT_LE(faults.at("end_ns").get<std::int64_t>() - faults.at("start_ns").get<std::int64_t>(),
              lasted.count());
    if (figure_of(faults, "comm", "touch_pages") >= 2000U &&
        faults.at("caveats").value("late", 0) == 0) {
      return;
    }
    why = faults.dump(1);
  }
  ADD_FAILURE() << why;
}

// Both stand on malloc of the same libc: neither takes calls from the other.
TEST_F(BesideOthersTest, calls_that_bpftrace_counts_too_are_all_recorded) {
  if (run("bpftrace --version").status != 0) {
    GTEST_SKIP() << "bpftrace is not installed";
  }
  const Outcome counted = run_well(
      "cp $PUPPETS/heap_calls calls_seen && cp $PUPPETS/heap_calls calls_warm\n"
      "bpftrace -e 'uprobe:libc:malloc /comm == \"calls_warm\"/ { printf(\"watches\\n\"); } "
      "uprobe:libc:malloc /comm == \"calls_seen\"/ { @ = count(); }' >counted 2>&1 & OTHER=$!\n"
      "for i in $(seq 400); do ./calls_warm 1 >&2; grep -q watches counted && break; "
      "sleep 0.05; done\n"
      "$MEMTRACE record --for malloc,leaks -o beside.data -- ./calls_seen 300 >&2\n"
      "kill -INT $OTHER; wait $OTHER\n"
      "sed -n 's/^@: //p' counted\n"
      "$MEMTRACE record --for malloc,leaks -o alone.data -- ./calls_seen 300 >&2");
  ASSERT_FALSE(counted.out.empty()) << text_of(dir_.file("counted"));
  const std::uint64_t by_bpftrace = std::stoull(counted.out);
  EXPECT_GE(by_bpftrace, 300U);
  for (const char* file : {"beside.data", "alone.data"}) {
    const Json malloc = report(std::string("malloc --by function --top 0 -i ") + file);
    EXPECT_EQ(figure_of(malloc, "function", "malloc"), by_bpftrace) << file;
    EXPECT_EQ(lost_in(malloc), 0U);
  }
  EXPECT_EQ(report("leaks --by function --top 0 -i beside.data").at("totals"),
            report("leaks --by function --top 0 -i alone.data").at("totals"));
}

// Each has probes of its own on the same functions of the same process; one goes while the others
// record.
TEST_F(BesideOthersTest, recorders_with_the_same_probes_see_the_same_blocks) {
  const std::string record = "begin $MEMTRACE record --for leaks -p $PUPPET -o ";
  run_well("$PUPPETS/heap_patterns pause >told & PUPPET=$!; await ready told $PUPPET || exit 1\n" +
           record + "first.data; FIRST=$RECORDER\n" + record + "gone.data; GONE=$RECORDER\n" +
           record + "second.data; SECOND=$RECORDER\n" +
           "[ $(grep -c 'memtrace_heap_.*/shared' /sys/kernel/tracing/uprobe_events) -ge 3 ] || "
           "[ $(grep -c 'memtrace_heap_.*/malloc' /sys/kernel/tracing/uprobe_events) -ge 3 ] || "
           "exit 2\n"
           "kill -INT $GONE; wait $GONE; kill -USR2 $PUPPET; wait $FIRST && wait $SECOND");
  for (const char* file : {"first.data", "second.data"}) {
    const Json leaks = report(std::string("leaks --top 0 -i ") + file);
    const std::string leak = "(anonymous namespace)::leak_by_malloc";
    EXPECT_EQ(sum_with_function(leaks, leak), 10U) << file;
    EXPECT_EQ(sum_with_function(leaks, leak, "bytes"), 1045U) << file;
    EXPECT_EQ(lost_in(leaks), 0U);
  }
}

}  // namespace
}  // namespace memtrace::test
