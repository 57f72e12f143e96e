#include "timeline/slot_part.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

using How = Timeline::Joining::How;
using Part = Timeline::ReportPart;
using ReportOf = ViewSpec::ReportOf;

Cell number(std::uint64_t value) {
  return Cell(value);
}

class SlotPartTest : public ::testing::Test {
 protected:
  using Cells = std::vector<std::vector<Cell>>;

  static Table table(std::vector<Column> figures, Cells rows) {
    Table table{.columns = {{"comm", Unit::Text}}, .key_count = 1, .rows = std::move(rows)};
    table.columns.insert(table.columns.end(), figures.begin(), figures.end());
    return table;
  }

  void round(const std::vector<Column>& figures, const Cells& rows) {
    Table made = table(figures, rows);
    rows_.add(round_++, made);
  }

  // As many slots as rounds.
  std::optional<Part> part(const Table& whole, bool all_rows = true) {
    slots_.clear();
    for (std::uint32_t i = 0; i < round_; ++i) {
      slots_.push_back(i);
    }
    return SlotPart(rows_, whole, slots_).make(all_rows);
  }

  How how_of(const std::string& column, const std::vector<Cell>& in_rounds, const Cell& whole) {
    SlotRows rows;
    std::uint32_t round = 0;
    std::vector<std::uint32_t> slots;
    for (const Cell& cell : in_rounds) {
      Table made = table({{column}, {"one"}}, {{Cell("a"), cell, number(1)}});
      slots.push_back(round);
      rows.add(round++, made);
    }
    const Table all = table({{column}, {"one"}}, {{Cell("a"), whole, number(round)}});
    return SlotPart(rows, all, slots).make(true)->joinings.at(0).how;
  }

  SlotRows rows_;
  std::uint32_t round_ = 0;
  std::vector<std::uint32_t> slots_;
};

TEST_F(SlotPartTest, figures_of_rounds_add_up_to_the_whole) {
  EXPECT_EQ(how_of("count", {number(2), number(3)}, number(5)), How::Sum);
  EXPECT_EQ(how_of("max", {number(2), number(3), number(1)}, number(3)), How::Largest);
  EXPECT_EQ(how_of("min", {number(2), number(1), number(3)}, number(1)), How::Least);
  EXPECT_EQ(how_of("live_bytes", {number(9), number(4)}, number(4)), How::Last);
}

TEST_F(SlotPartTest, a_figure_that_does_not_add_up_is_not_known) {
  EXPECT_EQ(how_of("count", {number(2), number(3)}, number(7)), How::Unknown);
  EXPECT_EQ(how_of("max", {number(2), number(3)}, number(5)), How::Unknown);
  EXPECT_EQ(how_of("p99", {number(2), number(3)}, number(7)), How::Unknown);
  EXPECT_EQ(how_of("peak_at_ns", {number(2), number(3)}, number(3)), How::Unknown);
}

// What counts since the recording began says nothing of a slot.
TEST_F(SlotPartTest, a_counter_that_goes_on_is_not_known_nor_its_largest) {
  const std::vector<Column> figures = {{"allocs"}, {"peak"}, {"live"}};
  round(figures, {{Cell("a"), number(2), number(5), number(1)}});
  round(figures, {{Cell("a"), number(6), number(7), number(3)}});
  const Table whole = table(figures, {{Cell("a"), number(6), number(7), number(3)}});
  const auto made = part(whole);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->joinings.at(0).how, How::Unknown);
  EXPECT_EQ(made->joinings.at(1).how, How::Unknown);
  EXPECT_EQ(made->joinings.at(2).how, How::Last);
  const auto of_moment = SlotPart(rows_, whole, slots_, ReportOf::Moment).make(true);
  EXPECT_EQ(of_moment->joinings.at(0).how, How::Last);
}

// As the heap view does, if it is known of the view.
TEST_F(SlotPartTest, what_counts_since_the_begin_is_what_it_grew_by) {
  const std::vector<Column> figures = {{"allocs"}, {"peak"}, {"leaked"}};
  round(figures, {{Cell("a"), number(2), number(5), number(4)}});
  round(figures, {{Cell("a"), number(2), number(5), number(3)}, {Cell("b"), number(8), {}, {}}});
  round(figures, {{Cell("a"), number(6), number(7), number(1)}, {Cell("b"), number(9), {}, {}}});
  slots_ = {0, 1, 2};
  const Table whole = table(figures, {{Cell("a"), number(6), number(7), number(1)}});
  const auto made = SlotPart(rows_, whole, slots_, ReportOf::SinceBegin).make(true);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->joinings.at(0).how, How::Sum);
  EXPECT_EQ(made->joinings.at(1).how, How::Unknown) << "of the largest so far";
  EXPECT_EQ(made->joinings.at(2).how, How::Last);
  ASSERT_EQ(made->rows.at(0).slots.size(), 3U);
  const auto figure = [](const Part::Slot& slot, std::size_t at) { return slot.figures.at(at); };
  EXPECT_EQ(figure(made->rows[0].slots[0], 0), 2);
  EXPECT_EQ(figure(made->rows[0].slots[1], 0), 0);
  EXPECT_EQ(figure(made->rows[0].slots[1], 2), 3);
  EXPECT_EQ(figure(made->rows[0].slots[2], 0), 4);
  ASSERT_EQ(made->rest.size(), 2U);
  EXPECT_EQ(figure(made->rest[0], 0), 8);
  EXPECT_EQ(figure(made->rest[1], 0), 1);
}

// Whatever it is: its letters do not add up.
TEST_F(SlotPartTest, text_is_not_known) {
  const std::vector<Column> figures = {{"verdict", Unit::Text}, {"count"}};
  round(figures, {{Cell("a"), Cell("leak"), number(1)}});
  const auto made = part(table(figures, {{Cell("a"), Cell("leak"), number(1)}}));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->joinings.at(0).how, How::Unknown);
}

TEST_F(SlotPartTest, a_mean_is_made_of_the_sums_of_the_window) {
  const std::vector<Column> figures = {
      {"count"}, {"time", Unit::Nanoseconds}, {"avg", Unit::Nanoseconds}};
  round(figures, {{Cell("a"), number(2), number(9), number(4)}});
  round(figures, {{Cell("a"), number(1), number(5), number(5)}});
  const auto made = part(table(figures, {{Cell("a"), number(3), number(14), number(4)}}));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->joinings.at(2).how, How::Mean);
  EXPECT_EQ(made->joinings.at(2).sum, 1U);
  EXPECT_EQ(made->joinings.at(2).count, 0U);
}

TEST_F(SlotPartTest, rows_are_those_of_the_whole_and_all_others_one) {
  const std::vector<Column> figures = {{"count"}, {"max"}};
  round(figures, {{Cell("a"), number(2), number(5)}, {Cell("b"), number(1), number(7)}});
  round(figures, {{Cell("b"), number(4), number(2)}, {Cell("c"), number(1), number(1)}});
  Table whole = table(figures, {{Cell("b"), number(5), number(7)}, {Cell("other"), number(3), {}}});
  whole.last_is_rest = true;
  const auto made = part(whole);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->rows.size(), 1U);
  EXPECT_EQ(made->rows[0].row, 0U);
  ASSERT_EQ(made->rows[0].slots.size(), 2U);
  EXPECT_EQ(made->rows[0].slots[1].slot, 1U);
  EXPECT_EQ(made->rows[0].slots[1].figures.at(0), 4);
  ASSERT_EQ(made->rest.size(), 2U);
  EXPECT_EQ(made->rest[0].figures.at(0), 2);
  EXPECT_EQ(made->rest[1].figures.at(0), 1);
  EXPECT_FALSE(made->rest[1].figures.at(1)) << "the largest of several rows is that of none";
  EXPECT_TRUE(part(whole, false)->rest.empty()) << "the user does not want to see other rows";
}

TEST_F(SlotPartTest, rounds_in_one_slot_are_one) {
  const std::vector<Column> figures = {{"count"}, {"live"}};
  round(figures, {{Cell("a"), number(2), number(5)}});
  round(figures, {{Cell("a"), number(3), number(8)}});
  slots_ = {4, 4};
  const Table whole = table(figures, {{Cell("a"), number(5), number(8)}});
  const auto made = SlotPart(rows_, whole, slots_).make(true);
  ASSERT_EQ(made->rows.at(0).slots.size(), 1U);
  EXPECT_EQ(made->rows[0].slots[0].slot, 4U);
  EXPECT_EQ(made->rows[0].slots[0].figures.at(0), 5);
  EXPECT_EQ(made->rows[0].slots[0].figures.at(1), 8);
}

TEST_F(SlotPartTest, a_list_has_no_figures_by_slot) {
  const std::vector<Column> figures = {{"count"}};
  round(figures, {{Cell("a"), number(2)}, {Cell("a"), number(2)}});
  EXPECT_FALSE(part(table(figures, {{Cell("a"), number(2)}, {Cell("a"), number(2)}})));
}

TEST_F(SlotPartTest, many_rows_are_bounded_and_nothing_is_lost) {
  const std::vector<Column> figures = {{"count"}};
  Cells rows;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    rows.push_back({Cell("p" + std::to_string(i)), number(1)});
  }
  round(figures, rows);
  round(figures, rows);
  Cells whole_rows = rows;
  for (auto& row : whole_rows) {
    row[1] = number(2);
  }
  const auto made = part(table(figures, whole_rows));
  ASSERT_TRUE(made);
  EXPECT_LE(made->rows.size(), 100U);
  double sum = 0;
  for (const auto& row : made->rows) {
    for (const auto& slot : row.slots) {
      sum += slot.figures.at(0).value();
    }
  }
  for (const auto& slot : made->rest) {
    sum += slot.figures.at(0).value();
  }
  EXPECT_EQ(sum, 10'000);
}

// A filter leaves rows out of the report, and what is left may still be too much for the page.
TEST_F(SlotPartTest, all_rows_of_a_filtered_report_are_there) {
  const std::vector<Column> figures = {{"count"}};
  Cells rows;
  for (std::uint64_t i = 0; i < 150; ++i) {
    rows.push_back({Cell("p" + std::to_string(i)), number(1)});
  }
  const Table whole = table(figures, rows);
  rows.push_back({Cell("left out"), number(7)});
  round(figures, rows);
  const auto made = part(whole, false);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->rows.size(), 100U);
  EXPECT_EQ(made->rest.at(0).figures.at(0), 50);
  EXPECT_EQ(made->unknown_rows, 0U);
}

// Those that were counted together with rows that the filter leaves out.
TEST_F(SlotPartTest, rows_of_a_filtered_report_without_figures_are_counted) {
  const std::vector<Column> figures = {{"count"}};
  rows_ = SlotRows({.rows = 1});
  round(figures, {{Cell("a"), number(1)}, {Cell("b"), number(2)}, {Cell("left out"), number(7)}});
  const Table whole = table(figures, {{Cell("a"), number(1)}, {Cell("b"), number(2)}});
  EXPECT_EQ(part(whole, false)->unknown_rows, 1U);
  const auto all = part(whole, true);
  EXPECT_EQ(all->unknown_rows, 0U);
  EXPECT_EQ(all->rest.at(0).figures.at(0), 9);
}

}  // namespace
}  // namespace memtrace
