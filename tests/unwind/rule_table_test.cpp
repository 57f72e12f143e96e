#include "unwind/rule_table.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

CodePlace place(std::int32_t offset) {
  return {.rule = {.cfa_offset_bytes = offset}, .where = CodePlace::Where::Code};
}

TEST(RuleTableTest, address_means_something_else_in_another_space) {
  RuleTable table;
  table.insert(1, 0x1000, place(8));
  table.insert(2, 0x1000, place(16));
  EXPECT_EQ(table.find(1, 0x1000)->rule.cfa_offset_bytes, 8);
  EXPECT_EQ(table.find(2, 0x1000)->rule.cfa_offset_bytes, 16);
  EXPECT_EQ(table.find(3, 0x1000), nullptr);
  EXPECT_EQ(table.find(1, 0x1001), nullptr);
}

TEST(RuleTableTest, all_is_found_again_after_it_has_grown) {
  RuleTable table;
  constexpr int kMany = 50000;
  for (int i = 0; i < kMany; ++i) {
    table.insert(1, static_cast<std::uint64_t>(i) * 16, place(i));
  }
  for (int i = 0; i < kMany; ++i) {
    const CodePlace* found = table.find(1, static_cast<std::uint64_t>(i) * 16);
    ASSERT_NE(found, nullptr) << i;
    ASSERT_EQ(found->rule.cfa_offset_bytes, i);
  }
}

TEST(RuleTableTest, it_starts_again_before_it_takes_all_memory) {
  RuleTable table;
  for (std::uint64_t i = 1; i <= 1'500'000; ++i) {
    table.insert(i, 64, place(1));
  }
  EXPECT_LT(table.size(), 1'100'000U);
  EXPECT_NE(table.find(1'500'000, 64), nullptr);
}

}  // namespace
}  // namespace memtrace
