// Figures that can be known beforehand come out exactly, and as perf has them.
#include <numeric>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

// What one message of many_kmallocs asks for, and nothing else in it does.
constexpr const char* kOneMessage = "--filter 'bytes_req == 1048'";

using ExactnessTest = LiveTest;

TEST_F(ExactnessTest, touched_pages_are_so_many_faults_at_the_function_that_touched) {
  run_well("$MEMTRACE record --for faults -- $PUPPETS/touch_pages 1234");
  const Json faults = report("faults --user --top 0");
  EXPECT_EQ(sum_at_function(faults, "touch_fresh_pages"), 1234U);
  EXPECT_EQ(sum_at_function(faults, "touch_fresh_pages", "minor"), 1234U);
  EXPECT_EQ(sum_at_function(faults, "touch_fresh_pages", "major"), 0U);
  EXPECT_EQ(lost_in(faults), 0U);
}

TEST_F(ExactnessTest, touched_pages_are_write_faults) {
  run_well("$MEMTRACE record --for faults -- $PUPPETS/touch_pages 1234");
  run_well("$MEMTRACE record --for faults -o none.data -- $PUPPETS/touch_pages 0");
  const std::uint64_t writes = figure_of(report("faults --by access"), "access", "write");
  const std::uint64_t start_up =
      figure_of(report("faults --by access -i none.data"), "access", "write");
  // Starting a program faults as often each time, but for a page or two of its randomised stack.
  EXPECT_NEAR(static_cast<double>(writes - start_up), 1234, 5);
}

TEST_F(ExactnessTest, software_page_faults_alone_give_the_same_figure) {
  run_well("$MEMTRACE record -e minor-faults,major-faults -- $PUPPETS/touch_pages 1234");
  EXPECT_EQ(sum_at_function(report("faults --user --top 0"), "touch_fresh_pages", "minor"), 1234U);
}

TEST_F(ExactnessTest, faults_are_counted_as_perf_stat_counts_them) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  const auto perf_faults = [this](int pages) {
    const Outcome stat = run_well("perf stat -x, -e minor-faults:u -- $PUPPETS/touch_pages " +
                                  std::to_string(pages) + " 2>&1 >/dev/null");
    return std::stod(stat.out);
  };
  const auto own_faults = [this](int pages) {
    run_well("$MEMTRACE record --for faults -- $PUPPETS/touch_pages " + std::to_string(pages));
    return report("faults").at("totals").at("count").get<double>();
  };
  // Less what starting the program faults, which differs by some pages from run to run.
  EXPECT_NEAR(perf_faults(2000) - perf_faults(0), 2000, 10);
  EXPECT_NEAR(own_faults(2000) - own_faults(0), 2000, 10);
}

TEST_F(ExactnessTest, sent_messages_are_so_many_kmallocs_at_the_function_that_sent) {
  run_well("$MEMTRACE record --for kmalloc -- $PUPPETS/many_kmallocs 1500");
  const Json kmalloc = report("kmalloc --exclude allocate_slab --top 0");
  EXPECT_EQ(sum_with_function(kmalloc, "send_messages"), 1500U);
  EXPECT_EQ(sum_with_function(kmalloc, "send_messages", "bytes_req"), 1500U * 1048);
  EXPECT_EQ(sum_with_function(kmalloc, "send_messages", "bytes_alloc"), 1500U * 2048);
  EXPECT_EQ(lost_in(kmalloc), 0U);
}

TEST_F(ExactnessTest, kmallocs_are_counted_as_perf_stat_and_perf_record_count_them) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  // With the filter: each tracer's own mmap records are kmallocs of the traced program too
  // (perf_event_mmap), and there are more of them the more events follow it.
  const std::string events = std::string("-e kmem:kmalloc ") + kOneMessage;
  const std::string command = " -- $PUPPETS/many_kmallocs 1500";
  const Outcome stat = run_well("perf stat -x, " + events + command + " 2>&1 >/dev/null");
  EXPECT_EQ(std::stol(stat.out), 1500) << stat.all();
  run_well("perf record -q -o perf.data " + events + command);
  EXPECT_EQ(perf_counts("perf.data")["kmem:kmalloc"], 1500U);
  run_well("$MEMTRACE record " + events + command);
  EXPECT_EQ(report("kmalloc").at("totals").at("count"), 1500U);
}

// Blocks of 2048 bytes only: a new slab may bring a kmalloc of its own for its object extensions
// (alloc_slab_obj_exts, mm/slub.c) under the same function.
std::uint64_t messages_left_by(const Json& leaks, std::string_view function) {
  std::uint64_t left = 0;
  for (const Json& row : leaks.at("tables").at(0).at("rows")) {
    const auto count = row.at("count").get<std::uint64_t>();
    const bool is_messages = row.at("kind") == "kmalloc" && row.at("bytes") == count * 2048;
    if (is_messages && row.at("stack").dump().find(function) != std::string::npos) {
      left += count;
    }
  }
  return left;
}

TEST_F(ExactnessTest, messages_left_behind_are_the_leaks_and_no_others) {
  run_well("$MEMTRACE record --for kleaks -- $PUPPETS/leak_kernel 160 1");
  const Json leaks = report("kleaks --by stack,kind --top 0");
  EXPECT_EQ(messages_left_by(leaks, "leave_messages"), 160U);
  EXPECT_EQ(messages_left_by(leaks, "pass_messages"), 0U);
}

TEST_F(ExactnessTest, intervals_of_a_live_view_add_up_to_the_whole) {
  const Outcome live =
      run_well(std::string("$MEMTRACE kmalloc --format json --by comm ") + kOneMessage +
               " 0.2 -- sh -c '"
               "$PUPPETS/many_kmallocs 300; sleep 0.3; $PUPPETS/many_kmallocs 400;"
               " sleep 0.3; $PUPPETS/many_kmallocs 500' | grep schema");
  std::istringstream lines(live.out);
  std::string line;
  std::uint64_t sum = 0;
  std::size_t busy = 0;
  while (std::getline(lines, line)) {
    const std::uint64_t count = figure_of(Json::parse(line), "comm", "many_kmallocs");
    sum += count;
    busy += count > 0 ? 1 : 0;
  }
  EXPECT_EQ(sum, 1200U) << live.all();
  EXPECT_GE(busy, 3U) << live.all();
}

TEST_F(ExactnessTest, a_live_view_and_a_recording_agree) {
  const std::string events = std::string(kOneMessage) + " -- $PUPPETS/many_kmallocs 800";
  const Json live =
      json_of("$MEMTRACE kmalloc --format json --by comm " + events + " | sed -n '/^{/,$p'");
  run_well("$MEMTRACE record --for kmalloc " + events);
  const Json recorded = report("kmalloc --by comm");
  EXPECT_EQ(figure_of(live, "comm", "many_kmallocs"), 800U);
  EXPECT_EQ(live.at("totals"), recorded.at("totals"));
}

}  // namespace
}  // namespace memtrace::test
