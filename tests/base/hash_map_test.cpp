// The checks are tested in every build, those without them too.
#ifndef MEMTRACE_CHECKED_TABLES
#define MEMTRACE_CHECKED_TABLES
#endif
#include "base/hash_map.h"

#include <gtest/gtest.h>

#include <string>

namespace memtrace {
namespace {

using Table = HashMap<int, std::string>;

TEST(HashMapDeathTest, end_is_not_followed) {
  Table table;
  table[1] = "one";
  EXPECT_DEATH((void)table.find(2)->second, "end\\(\\) of a table is followed");
  EXPECT_DEATH(table.find(2).value() = "two", "end\\(\\) of a table is followed");
  EXPECT_DEATH(table.erase(table.find(2)), "end\\(\\) of a table is followed");
  EXPECT_DEATH(++table.end(), "end\\(\\) of a table is followed");
  EXPECT_DEATH((void)*Table().begin(), "end\\(\\) of a table is followed");
}

TEST(HashMapDeathTest, an_iterator_is_not_followed_after_an_insertion) {
  Table table;
  table[1] = "one";
  const auto one = table.find(1);
  table[2] = "two";
  EXPECT_DEATH((void)one->second, "older than a change");
}

TEST(HashMapDeathTest, an_iterator_is_not_followed_after_an_erasure) {
  Table table;
  table[1] = "one";
  table[2] = "two";
  const auto one = table.find(1);
  table.erase(2);
  EXPECT_DEATH((void)one->second, "older than a change");
}

TEST(HashMap, iterators_stay_valid_while_nothing_changes) {
  Table table;
  table.try_emplace(1, "one");
  const auto one = table.find(1);
  EXPECT_FALSE(table.try_emplace(1, "another").second);
  EXPECT_EQ(table.erase(2), 0U);
  table[1] += "!";
  EXPECT_EQ(one->second, "one!");
}

TEST(HashMap, elements_are_erased_on_the_way_through_the_table) {
  Table table;
  for (int i = 0; i < 1000; ++i) {
    table[i] = std::to_string(i);
  }
  for (auto place = table.begin(); place != table.end();) {
    place = place->first % 2 == 0 ? table.erase(place) : std::next(place);
  }
  EXPECT_EQ(table.size(), 500U);
  const Table& constant = table;
  EXPECT_EQ(constant.find(7)->second, "7");
  EXPECT_TRUE(constant.find(8) == constant.end());
}

}  // namespace
}  // namespace memtrace
