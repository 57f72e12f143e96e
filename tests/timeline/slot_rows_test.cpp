#include "timeline/slot_rows.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

// A round in which each of these processes counted as much.
void add_round(SlotRows& rows, std::uint32_t round, const std::vector<std::string>& comms) {
  Table table{.columns = {{"comm", Unit::Text}, {"count"}}, .key_count = 1};
  for (const std::string& comm : comms) {
    table.rows.push_back({Cell(comm), Cell(std::uint64_t{5})});
  }
  rows.add(round, table);
}

std::string key(const std::string& comm) {
  return SlotRows::key_of({Cell(comm)}, 1);
}

TEST(SlotRows, the_first_rows_have_their_own_figures_and_the_others_are_one) {
  SlotRows rows({.rows = 2});
  add_round(rows, 0, {"a", "b", "c", "d"});
  add_round(rows, 1, {"d", "b", "e"});
  ASSERT_NE(rows.find(key("b")), nullptr);
  EXPECT_EQ(rows.find(key("b"))->size(), 2U);
  EXPECT_EQ(rows.find(key("d")), nullptr) << "what had no room once has none later";
  ASSERT_EQ(rows.unlisted().size(), 2U);
  EXPECT_EQ(rows.unlisted()[0].figures.at(0), 10);
  EXPECT_EQ(rows.unlisted()[1].figures.at(0), 10);
  EXPECT_FALSE(rows.is_cut());
}

TEST(SlotRows, what_is_cut_is_known_to_be) {
  SlotRows rows({.entries = 3});
  add_round(rows, 0, {"a", "b", "c"});
  EXPECT_FALSE(rows.is_cut());
  add_round(rows, 1, {"a"});
  EXPECT_TRUE(rows.is_cut());
  EXPECT_EQ(rows.find(key("a"))->size(), 1U);
}

}  // namespace
}  // namespace memtrace
