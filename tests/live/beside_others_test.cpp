// Other tools that watch the machine at the same time: what memtrace says stays the same.
#include <map>

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
};

TEST_F(BesideOthersTest, recorder_with_build_ids_leaves_names_and_stacks_as_they_are) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  const Outcome outcome = run_well(
      "perf record --buildid-mmap -a -e dummy -o perf.data -- sleep 60 >perf.out 2>&1 & "
      "other=$!; sleep 1.5; "
      "$MEMTRACE record --for malloc -o beside.data -- $PUPPETS/heap_calls 300; "
      "kill -INT $other; wait $other; "
      "$MEMTRACE record --for malloc -o alone.data -- $PUPPETS/heap_calls 300");
  EXPECT_EQ(outcome.all().find("not the file that was recorded"), std::string::npos)
      << outcome.all();
  const Json alone = report("malloc --top 0 -i alone.data");
  const Json beside = report("malloc --top 0 -i beside.data");
  EXPECT_GE(whole_stacks(alone), 300U);
  EXPECT_EQ(whole_stacks(beside), whole_stacks(alone));
  // For perf, too: a build id that is none would be the file's numbers.
  EXPECT_EQ(run_well("perf script -i beside.data --show-mmap-events -F comm,ip | "
                     "grep -c 'PERF_RECORD_MMAP2.*libc.* <'; true")
                .out,
            "0\n");
}

// All software events of a fault share what the kernel fills in for the first of them.
TEST_F(BesideOthersTest, faults_that_others_record_too_are_read) {
  const std::string others =
      "$MEMTRACE record -a -e minor-faults,major-faults --call-graph fp -o second.data -d 3 "
      ">second.out 2>&1 & second=$!; ";
  const Outcome outcome = run_well(
      "$MEMTRACE record -a -e minor-faults,major-faults --call-graph none -o first.data "
      "--ring-size 16M -d 5 >first.out 2>&1 & first=$!; sleep 1; " +
      others +
      "sleep 1; $PUPPETS/touch_pages 2000 >touched; wait $second; wait $first; cat first.out");
  EXPECT_EQ(outcome.all().find("could not be read"), std::string::npos) << outcome.all();
  const Json faults = report("count --by comm --top 0 -i first.data");
  EXPECT_GE(figure_of(faults, "comm", "touch_pages"), 2000U) << faults.dump(1);
  EXPECT_EQ(faults.at("caveats").value("malformed", 0), 0);
}

// Those that come later are told of each event first.
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

TEST_F(BesideOthersTest, faults_are_in_their_time_though_perf_has_another_clock) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  run_well(
      "$MEMTRACE record -a -e minor-faults,kmem:kmalloc --call-graph none -o first.data "
      "--ring-size 16M -d 5 >first.out 2>&1 & first=$!; sleep 1; "
      "perf record -a -g -e minor-faults -o perf.data -- sleep 2 >perf.out 2>&1 & perf=$!; "
      "sleep 1; $PUPPETS/touch_pages 2000 >touched; wait $perf; wait $first");
  const Json faults = report("count --by comm --top 0 -i first.data");
  EXPECT_GE(figure_of(faults, "comm", "touch_pages"), 2000U) << faults.dump(1);
  EXPECT_EQ(faults.at("caveats").value("late", 0), 0);
  EXPECT_LE(faults.at("end_ns").get<std::uint64_t>() - faults.at("start_ns").get<std::uint64_t>(),
            5'100'000'000U);
}

}  // namespace
}  // namespace memtrace::test
