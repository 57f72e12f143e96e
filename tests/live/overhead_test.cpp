// --max-overhead: fewer samples, figures that stay true within their bars, and probes that are
// refused where each hit costs too much.
#include <cmath>
#include <sstream>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

class OverheadTest : public LiveTest {
 protected:
  static std::string notes_of(const Json& report) { return report.at("caveats").dump(); }

  // Of the messages of the puppets, in puppets/many_kmallocs.cpp.
  static Json messages_of(const Json& report) {
    Json found;
    for (const Json& row : report.at("tables").at(0).at("rows")) {
      found = row.dump().find("1048") != std::string::npos ? row : found;
    }
    return found;
  }

  // A bar of 95 % twice as long is left by one run of 10,000.
  static void expect_within_bars(const Json& report, double truth) {
    constexpr double kBytes = 1048;
    const Json row = messages_of(report);
    ASSERT_FALSE(row.is_null()) << report.dump();
    const double error = row.at("error").get<double>();
    const double bytes_error = row.at("bytes_error").get<double>();
    EXPECT_GT(error, 0);
    EXPECT_LT(error, 100);  // wide where others take the CPUs: fewer events are recorded then
    EXPECT_NEAR(row.at("count").get<double>(), truth, truth * 2 * error / 100)
        << row.dump() << notes_of(report);
    EXPECT_NEAR(
        row.at("bytes_req").get<double>(), kBytes * truth, kBytes * truth * 2 * bytes_error / 100);
  }
};

// 400,000 kmallocs of 1048 bytes (puppets/many_kmallocs.cpp), and few others of other sizes.
TEST_F(OverheadTest, a_sampled_count_lies_within_its_bar_of_the_truth) {
  constexpr double kTruth = 400'000;
  run_well("$MEMTRACE record -e kmem:kmalloc --max-overhead 3% -- $PUPPETS/many_kmallocs 400000");
  const Json kmalloc = report("kmalloc --by size --top 0");
  expect_within_bars(kmalloc, kTruth);
  EXPECT_NE(notes_of(kmalloc).find("to keep the overhead below 3 %"), std::string::npos);
  EXPECT_NE(notes_of(kmalloc).find("estimated overhead: "), std::string::npos);
}

// Counting alone costs it more than 1 %.
TEST_F(OverheadTest, a_program_that_costs_too_much_to_count_is_watched_in_windows) {
  constexpr double kTruth = 1'000'000;
  run_well("$MEMTRACE record -e kmem:kmalloc --max-overhead 1% -- $PUPPETS/many_kmallocs 1000000");
  const Json kmalloc = report("kmalloc --by size --top 0");
  expect_within_bars(kmalloc, kTruth);
  EXPECT_NE(notes_of(kmalloc).find("watched in windows only"), std::string::npos)
      << notes_of(kmalloc);
  // Perf multiplies alike: the period of an event in the file is what a sample counts for.
  std::istringstream periods(run_well("perf script -F event,period -G -i memtrace.data").out);
  double by_perf = 0;
  double period = 0;
  for (std::string name; periods >> period >> name;) {
    by_perf += period;
  }
  const Json& totals = kmalloc.at("totals");
  EXPECT_EQ(by_perf, totals.at("count").get<double>()) << totals.dump();
}

TEST_F(OverheadTest, a_count_stays_within_its_bar_when_the_rate_changes_by_ten_times) {
  const std::string sent =
      run_well("$MEMTRACE record -e kmem:kmalloc --max-overhead 2% -- $PUPPETS/change_rate 20 1200")
          .out;
  const std::size_t at = sent.find("kmallocs ");
  ASSERT_NE(at, std::string::npos) << sent;
  expect_within_bars(report("kmalloc --by size --top 0"), std::stod(sent.substr(at + 9)));
}

TEST_F(OverheadTest, a_program_that_does_little_is_recorded_whole) {
  run_well(
      "$PUPPETS/touch_pages 1 2>/dev/null >/dev/null\n"
      "(exec sh -c 'i=0; while [ $i -lt 30 ]; do i=$((i+1)); sleep 0.1; done') & worker=$!\n"
      "$MEMTRACE record -e kmem:kmalloc --max-overhead 50% -d 1 -p $worker; kill $worker");
  const Json kmalloc = report("kmalloc");
  EXPECT_EQ(notes_of(kmalloc).find("to keep the overhead below"), std::string::npos)
      << notes_of(kmalloc);
  EXPECT_EQ(kmalloc.dump().find("\"error\""), std::string::npos);
  EXPECT_NE(notes_of(kmalloc).find("estimated overhead"), std::string::npos);
  EXPECT_EQ(notes_of(kmalloc).find("at most 0 %"), std::string::npos) << notes_of(kmalloc);
}

TEST_F(OverheadTest, probes_whose_hits_cost_too_much_are_refused) {
  const Outcome outcome =
      run("$PUPPETS/heap_storm 1 100000000 >/dev/null & storm=$!; sleep 0.3\n"
          "$MEMTRACE record --for malloc --max-overhead 1% -d 1 -p $storm; status=$?\n"
          "kill $storm; exit $status");
  EXPECT_EQ(outcome.status, 1) << outcome.all();
  EXPECT_TRUE(outcome.says("times a second")) << outcome.all();
  EXPECT_TRUE(outcome.says("1 % is the limit")) << outcome.all();
  EXPECT_TRUE(outcome.says("growth")) << outcome.all();
}

// With its probes, each call takes some microseconds: the storm would last a minute. The numbers
// are of the definitions of probes, before the storm and after it; the kernel takes a while to
// remove them.
TEST_F(OverheadTest, probes_that_begin_to_cost_too_much_are_removed_while_the_program_runs_on) {
  const Outcome outcome =
      run("$MEMTRACE record --for leaks,faults --max-overhead 3% -- sh -c '"
          "defined() { grep -c memtrace_heap_$PPID/ /sys/kernel/tracing/uprobe_events; }\n"
          "defined; $PUPPETS/heap_storm 1 20000000\n"
          "for i in 1 2 3 4 5 6 7 8 9 10; do defined >/dev/null || break; sleep 0.5; done\n"
          "defined || true'");
  EXPECT_EQ(outcome.status, 0) << outcome.all();
  EXPECT_TRUE(outcome.says("user probes were removed")) << outcome.all();
  EXPECT_TRUE(outcome.says("and 3 % is the limit")) << outcome.all();
  std::istringstream numbers(outcome.out);
  int before = 0;
  int after = -1;
  numbers >> before >> after;
  EXPECT_GT(before, 0) << outcome.all();
  EXPECT_EQ(after, 0) << "definitions are left: " << outcome.all();
  const Json leaks = report("leaks --by comm");
  EXPECT_NE(notes_of(leaks).find("user probes were removed"), std::string::npos) << notes_of(leaks);
  // Of what was allocated before, nobody knows what was freed later.
  const Json& rows = leaks.at("tables").at(0).at("rows");
  ASSERT_FALSE(rows.empty()) << leaks.dump(1);
  EXPECT_EQ(rows.at(0).at("at_least"), 0) << leaks.dump(1);
  EXPECT_NE(report("faults").at("totals").at("count"), 0);
}

}  // namespace
}  // namespace memtrace::test
