#include "overview/all_views_report.h"

#include <gtest/gtest.h>

#include "support/event_script.h"
#include "support/fake_source.h"

namespace memtrace {
namespace {

using test::FakeSource;

Report overview_of(FakeSource& source) {
  auto overview = make_all_views_report(source, {});
  EXPECT_TRUE(overview.ok());
  return overview.ok() ? overview.take() : Report();
}

std::vector<std::string> views_in(const Report& overview) {
  std::vector<std::string> names;
  for (const Report& report : overview.reports) {
    names.push_back(report.view);
  }
  return names;
}

class AllViewsReportTest : public testing::Test {
 protected:
  void SetUp() override {
    source_.add(5, Comm{.pid = 100, .tid = 100, .name = "demo"});
    source_.add(5, Comm{.pid = 200, .tid = 200, .name = "other"});
    source_.add_kmalloc(10, {.pid = 100});
    source_.add_kmalloc(40, {.pid = 200, .period = 3});
  }

  FakeSource source_;
};

TEST_F(AllViewsReportTest, span_processes_and_samples_are_told) {
  const Report overview = overview_of(source_);
  EXPECT_EQ(overview.view, "overview");
  EXPECT_EQ(overview.start_ns, 10U);
  EXPECT_EQ(overview.end_ns, 40U);
  EXPECT_EQ(test::total(overview, "span"), 30U);
  EXPECT_EQ(test::total(overview, "processes"), 2U);
  EXPECT_EQ(test::total(overview, "samples"), 2U);
}

TEST_F(AllViewsReportTest, process_that_has_only_samples_counts) {
  source_.add_kmalloc(50, {.pid = 300});
  source_.add_kmalloc(51, {.pid = 0});
  source_.add_kmalloc(52, {.pid = 0xffffffff});
  source_.add_kmalloc(53, {.pid = 300});
  EXPECT_EQ(test::total(overview_of(source_), "processes"), 3U);
}

TEST_F(AllViewsReportTest, each_event_that_happened_has_its_samples_and_hits) {
  const Report overview = overview_of(source_);
  ASSERT_EQ(overview.tables.front().rows.size(), 1U);
  EXPECT_EQ(test::figure(overview, {test::text("kmem:kmalloc")}, "samples"), test::number(2));
  EXPECT_EQ(test::figure(overview, {test::text("kmem:kmalloc")}, "count"), test::number(4));
}

// No page faults here, and without frees kleaks would show every allocation as a leak.
TEST_F(AllViewsReportTest, only_views_that_have_something_to_show_are_there) {
  EXPECT_EQ(views_in(overview_of(source_)), (std::vector<std::string>{"kmalloc", "slab"}));
}

TEST_F(AllViewsReportTest, title_says_what_was_recorded_and_where) {
  source_.edit().about_json = to_json({.target = "process 12"});
  source_.edit().host_name = "example";
  source_.edit().kernel_release = "6.1.0";
  EXPECT_EQ(overview_of(source_).title, "recording of process 12 on example (6.1.0)");
}

TEST_F(AllViewsReportTest, caveats_of_the_whole_are_not_those_of_one_view) {
  source_.add(50, Lost{.count = 9});
  source_.edit().caveats = {"The file is cut off"};
  // minor-faults in kernel code make a note of the view faults, and of no other.
  source_.add(60,
              Sample{.event = test::kMinorFaults,
                     .pid = 100,
                     .tid = 100,
                     .ip = 0xffffffff81000000U,
                     .mode = CpuMode::Kernel});
  const Report overview = overview_of(source_);
  EXPECT_EQ(overview.caveats.lost, 9U);
  EXPECT_EQ(overview.caveats.notes.size(), 1U);
  EXPECT_TRUE(test::has_note(overview, "The file is cut off"));
}

TEST_F(AllViewsReportTest, long_tables_are_cut_to_their_first_rows) {
  for (std::uint32_t pid = 1000; pid < 1020; ++pid) {
    source_.add_kmalloc(100 + pid, {.pid = pid, .chain = {kContextUser, pid}});
  }
  for (const Report& report : overview_of(source_).reports) {
    EXPECT_LE(report.tables.front().rows.size(), 6U) << report.view;
  }
}

TEST_F(AllViewsReportTest, recording_of_nothing_has_no_samples_and_no_views) {
  FakeSource empty;
  const Report overview = overview_of(empty);
  EXPECT_EQ(test::total(overview, "samples"), 0U);
  EXPECT_TRUE(overview.reports.empty());
}

TEST_F(AllViewsReportTest, calls_are_not_told_twice) {
  auto& events = source_.edit().events;
  events.push_back({.name = "memtrace_1:compute", .kind = EventKind::Tracepoint});
  source_.add(60, Sample{.event = static_cast<std::uint32_t>(events.size() - 1), .pid = 100});
  const Report overview = overview_of(source_);
  EXPECT_EQ(test::figure(overview, {test::text("memtrace_1:compute")}, "samples"), test::number(1));
  const auto views = views_in(overview);
  EXPECT_EQ(std::count(views.begin(), views.end(), "calls"), 0);
  EXPECT_EQ(std::count(views.begin(), views.end(), "kmalloc"), 1);
}

}  // namespace
}  // namespace memtrace
