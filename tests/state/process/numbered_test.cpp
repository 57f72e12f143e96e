// Entries that are kept once each, with numbers.
#include "state/process/numbered.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace memtrace {
namespace {

TEST(NumberedTest, equal_entries_have_one_number_and_others_the_next) {
  Numbered<std::string, std::hash<std::string>> names;
  EXPECT_EQ(names.number("a"), 1U);
  EXPECT_EQ(names.number("b"), 2U);
  EXPECT_EQ(names.number("a"), 1U);
  EXPECT_EQ(names.size(), 2U);
  EXPECT_EQ(names[2], "b");
}

TEST(NumberedTest, entries_are_found_when_their_table_has_grown) {
  Numbered<std::string, std::hash<std::string>> names;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(names.number(std::to_string(i)), i + 1U);
  }
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(names.number(std::to_string(i)), i + 1U);
  }
  EXPECT_EQ(names.size(), 10'000U);
}

struct AllAlike {
  std::size_t operator()(const std::string& /*name*/) const { return 7; }
};

TEST(NumberedTest, entries_of_one_hash_are_told_apart) {
  Numbered<std::string, AllAlike> names;
  EXPECT_EQ(names.number("a"), 1U);
  EXPECT_EQ(names.number("b"), 2U);
  EXPECT_EQ(names.number("b"), 2U);
}

}  // namespace
}  // namespace memtrace
