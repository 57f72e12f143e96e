#include "views/kit/event_list.h"

#include <gtest/gtest.h>

#include <array>

namespace memtrace {
namespace {

struct Step {
  std::uint64_t time_ns = 0;
  std::uint32_t pid = 0;
};

class EventListTest : public testing::Test {
 protected:
  template <typename Entry>
  Table table(EventList<Entry>& list) const {
    const ListColumns<Entry> columns = {figure<&Step::pid>("pid", Unit::Number)};
    return list.table("steps", 2, columns, context_);
  }

  static std::vector<Cell> row(std::uint64_t at_ns, std::uint64_t pid) {
    return {Cell(at_ns), Cell(pid)};
  }

  World world_{{}};
  CellContext context_{.world = world_, .span = {.start_ns = 100, .end_ns = 1000}};
};

TEST_F(EventListTest, lists_in_order_of_time_from_the_start_of_the_report) {
  EventList<Step> list;
  list.add({.time_ns = 300, .pid = 3});
  list.add({.time_ns = 110, .pid = 1});
  list.add({.time_ns = 110, .pid = 2});
  const Table steps = table(list);
  EXPECT_EQ(steps.columns.at(0).name, "at_ns");
  EXPECT_EQ(steps.columns.at(1).name, "pid");
  EXPECT_EQ(steps.key_count, 2U);
  EXPECT_TRUE(steps.fixed);
  EXPECT_EQ(steps.rows, (std::vector{row(10, 1), row(10, 2), row(200, 3)}));
  EXPECT_EQ(steps.note, "");
}

TEST_F(EventListTest, lines_are_taken_once_in_the_order_in_which_they_came) {
  EventList<Step> list;
  list.add({.time_ns = 300, .pid = 3});
  list.add({.time_ns = 110, .pid = 1});
  const ListColumns<Step> columns = {figure<&Step::pid>("pid", Unit::Number)};
  EXPECT_EQ(list.take(columns, context_).rows, (std::vector{row(200, 3), row(10, 1)}));
  EXPECT_TRUE(list.take(columns, context_).rows.empty());
  EXPECT_EQ(list.take(columns, context_).columns.size(), 2U);
}

TEST_F(EventListTest, says_below_its_table_how_many_it_does_not_list) {
  EventList<Step> list(3);
  for (std::uint64_t i = 0; i < 3 + 1234; ++i) {
    list.add({.time_ns = 100 + i});
  }
  const Table steps = table(list);
  EXPECT_EQ(steps.rows, (std::vector{row(0, 0), row(1, 0), row(2, 0)}));
  EXPECT_EQ(steps.note, "1,234 more are not listed");
  list.clear();
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(table(list).note, "") << "of an interval, the next one begins anew";
}

TEST_F(EventListTest, of_the_last_ones_drops_the_first_and_says_nothing) {
  auto list = EventList<Step>::of_last(2);
  for (const std::uint32_t pid : {1U, 2U, 3U}) {
    list.add({.time_ns = 100 + pid, .pid = pid});
  }
  const Table steps = table(list);
  EXPECT_EQ(steps.rows, (std::vector{row(2, 2), row(3, 3)}));
  EXPECT_EQ(steps.note, "");
}

TEST_F(EventListTest, keys_of_events_are_columns_and_own_ones_come_before_the_shared_ones) {
  constexpr KeySpec kOwnCpu{
      .name = "cpu",
      .unit = Unit::Text,
      .of = [](const Event& event) { return std::uint64_t{event.cpu}; },
      .cell = [](std::uint64_t word,
                 const CellContext&) { return Cell("cpu" + std::to_string(word)); }};
  constexpr auto kKeys = std::to_array<std::string_view>({"pid", "cpu"});
  EventList<Event> list;
  Event event;
  event.time_ns = 150;
  event.pid = 7;
  event.cpu = 2;
  list.add(without_borrowed(event));
  const Table events = list.table("events", 3, columns_of(kKeys, std::span(&kOwnCpu, 1)), context_);
  EXPECT_EQ(events.rows.at(0),
            (std::vector<Cell>{
                Cell(std::uint64_t{50}), Cell(std::uint64_t{7}), Cell(std::string("cpu2"))}));
}

}  // namespace
}  // namespace memtrace
