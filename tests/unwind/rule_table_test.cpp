#include "unwind/rule_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace memtrace {
namespace {

CodePlace place(std::int32_t offset) {
  return {.rule = {.cfa_offset_bytes = offset}, .where = CodePlace::Where::Code};
}

TEST(RuleTable, address_means_something_else_in_another_space) {
  RuleTable table;
  table.insert(1, 0x1000, place(8));
  table.insert(2, 0x1000, place(16));
  EXPECT_EQ(table.find(1, 0x1000)->rule.cfa_offset_bytes, 8);
  EXPECT_EQ(table.find(2, 0x1000)->rule.cfa_offset_bytes, 16);
  EXPECT_EQ(table.find(3, 0x1000), std::nullopt);
  EXPECT_EQ(table.find(1, 0x1001), std::nullopt);
}

TEST(RuleTable, nearly_all_is_found_again_while_it_is_not_full) {
  RuleTable table;
  constexpr int kMany = 50000;
  for (int i = 0; i < kMany; ++i) {
    table.insert(1, static_cast<std::uint64_t>(i) * 16, place(i));
  }
  int found = 0;
  for (int i = 0; i < kMany; ++i) {
    if (const auto known = table.find(1, static_cast<std::uint64_t>(i) * 16)) {
      ASSERT_EQ(*known, place(i));
      ++found;
    }
  }
  EXPECT_GT(found, kMany * 98 / 100);
}

TEST(RuleTable, the_newest_takes_the_place_of_an_older_one) {
  RuleTable table;
  constexpr std::uint64_t kMany = 4 * RuleTable::kEntries;
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    table.insert(i, 64, place(1));
    ASSERT_TRUE(table.find(i, 64)) << i;
  }
  std::uint64_t found = 0;
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    found += table.find(i, 64) ? 1 : 0;
  }
  EXPECT_LE(found, RuleTable::kEntries);
  EXPECT_GT(found, RuleTable::kEntries * 9 / 10);
}

// Each rule says which address it is of: nobody finds one that another was put over.
TEST(RuleTable, readers_find_only_what_is_true_while_it_is_written) {
  RuleTable table;
  std::atomic<bool> is_done = false;
  std::atomic<std::uint64_t> found = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&, reader] {
      std::mt19937 random(static_cast<unsigned>(reader));
      while (!is_done) {
        const auto avma = static_cast<std::int32_t>(random() % 64);
        if (const auto known = table.find(1, static_cast<std::uint64_t>(avma) << 46U)) {
          ASSERT_EQ(known->rule.cfa_offset_bytes, avma);
          ++found;
        }
      }
    });
  }
  // Few sets of the table are hit, and much is put over what another thread looks at.
  std::mt19937 random(7);
  for (int i = 0; i < 300'000 || found < 1000; ++i) {
    const auto avma = static_cast<std::int32_t>(random() % 64);
    table.insert(1, static_cast<std::uint64_t>(avma) << 46U, place(avma));
  }
  is_done = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
}

}  // namespace
}  // namespace memtrace
