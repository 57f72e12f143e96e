// What views say of each slot adds up to what they say of the whole recording.
#include "session/dispatch/slot_views.h"

#include <gtest/gtest.h>

#include "session/session.h"
#include "support/fake_source.h"

namespace memtrace {
namespace {

using Kind = Timeline::ReportPart::Kind;
using How = Timeline::Joining::How;

constexpr std::uint64_t kMs = 1'000'000;

class SlotViewsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Timeline> kmalloc(const ArrangeOptions& arrange = {}) {
    return report("kmalloc", arrange);
  }

  // The timeline of a report of this view by process.
  std::shared_ptr<const Timeline> report(std::string_view view,
                                         const ArrangeOptions& arrange = {}) {
    TimelineCollector timeline;
    SlotViews slot_views(timeline, bounds_);
    SessionOptions options;
    options.views = {find_view(view)};
    options.view_options.by = {"comm"};
    options.arrange = arrange;
    options.timeline = &timeline;
    options.slot_views = &slot_views;
    auto session = Session::create(source_, options);
    EXPECT_TRUE(session.ok());
    std::vector<Report> reports;
    EXPECT_TRUE(session.value()
                    ->run([&reports](std::vector<Report> made) -> Result<> {
                      reports = std::move(made);
                      return kDone;
                    })
                    .ok());
    auto taken = timeline.take(session.value()->world(), session.value()->namer());
    slot_views.add_to(*taken, {&reports.front()});
    return taken;
  }

  static const Timeline::ReportPart* part(const Timeline& timeline, Kind kind) {
    for (const Timeline::ReportPart& part : timeline.reports.front().parts) {
      if (part.kind == kind) {
        return &part;
      }
    }
    return nullptr;
  }

  void SetUp() override {
    source_.add(5, Comm{.pid = 100, .tid = 100, .name = "demo"});
    source_.add(5, Comm{.pid = 200, .tid = 200, .name = "other"});
    source_.add_kmalloc(10 * kMs, {.pid = 100, .bytes = 100});
    source_.add_kmalloc(10 * kMs + 5, {.pid = 200, .bytes = 10});
    source_.add_kmalloc(13 * kMs, {.pid = 100, .bytes = 1000, .ptr = 0xffff888000002000U});
  }

  test::FakeSource source_;
  SlotBounds bounds_;
};

TEST_F(SlotViewsTest, tables_and_totals_are_known_by_slot) {
  const auto timeline = kmalloc();
  ASSERT_EQ(timeline->reports.size(), 1U);
  EXPECT_EQ(timeline->reports.front().view, "kmalloc");
  EXPECT_EQ(timeline->reported_slots, (std::vector<std::uint32_t>{0, 3}));
  const auto* table = part(*timeline, Kind::Table);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->joinings.at(0).how, How::Sum);  // count
  ASSERT_EQ(table->rows.size(), 2U);
  ASSERT_EQ(table->rows[0].slots.size(), 2U);  // demo
  EXPECT_EQ(table->rows[0].slots[0].slot, 0U);
  EXPECT_EQ(table->rows[0].slots[0].figures.at(1), 100);
  EXPECT_EQ(table->rows[0].slots[1].slot, 3U);
  EXPECT_EQ(table->rows[0].slots[1].figures.at(1), 1000);
  const auto* totals = part(*timeline, Kind::Totals);
  ASSERT_NE(totals, nullptr);
  EXPECT_EQ(totals->rows.at(0).slots.at(0).figures.at(0), 2);
  EXPECT_EQ(totals->rows.at(0).slots.at(1).figures.at(0), 1);
}

TEST_F(SlotViewsTest, what_a_filter_leaves_out_is_no_other_row) {
  ArrangeOptions arrange;
  arrange.exclude.push_back(NamePattern::parse("other").take());
  const auto filtered = kmalloc(arrange);
  const auto* table = part(*filtered, Kind::Table);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->rows.size(), 1U);
  EXPECT_TRUE(table->rest.empty());
}

TEST_F(SlotViewsTest, a_cut_table_has_all_other_rows_as_one) {
  const auto cut = kmalloc({.top = 1});
  const auto* table = part(*cut, Kind::Table);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->rows.size(), 1U);
  ASSERT_EQ(table->rest.size(), 1U);
  EXPECT_EQ(table->rest[0].figures.at(1), 10);
}

// The event that shows that a slot has ended did not happen in it.
TEST_F(SlotViewsTest, what_is_live_at_the_end_of_a_slot_is_of_before_the_next_event) {
  source_.add_kfree(15 * kMs, 0xffff888000002000U);
  source_.add_kmalloc(15 * kMs, {.pid = 200, .bytes = 7, .ptr = 0xffff888000003000U});
  const auto timeline = report("kleaks");
  EXPECT_EQ(timeline->reported_slots, (std::vector<std::uint32_t>{0, 3, 5}));
  const auto* totals = part(*timeline, Kind::Totals);
  ASSERT_NE(totals, nullptr);
  ASSERT_EQ(totals->joinings.at(0).how, How::Last);
  std::vector<double> live;
  for (const auto& slot : totals->rows.at(0).slots) {
    live.push_back(slot.figures.at(0).value());
  }
  EXPECT_EQ(live, (std::vector<double>{1, 2, 2}));
}

TEST_F(SlotViewsTest, nothing_is_said_of_bounds_that_were_not_reached) {
  EXPECT_TRUE(report("kleaks")->reports.front().limits.empty());
}

TEST_F(SlotViewsTest, too_many_rows_are_a_reason_why_a_part_is_not_known) {
  bounds_.entries = 2;
  const auto timeline = kmalloc();
  EXPECT_EQ(part(*timeline, Kind::Table), nullptr);
  EXPECT_NE(part(*timeline, Kind::Totals), nullptr) << "they are one row";
  const auto& limits = timeline->reports.front().limits;
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_NE(limits[0].find("has too many rows: memtrace keeps 2 by slot"), std::string::npos)
      << limits[0];
}

TEST_F(SlotViewsTest, too_many_live_blocks_are_a_reason_why_a_view_is_not_known) {
  bounds_.visited_blocks = 1;
  const auto timeline = report("kleaks");
  EXPECT_TRUE(timeline->reports.front().parts.empty());
  EXPECT_EQ(timeline->reports.front().limits,
            (std::vector<std::string>{
                "There are too many live blocks to read all of them at the end of each slot."}));
}

}  // namespace
}  // namespace memtrace
