#include "state/heap/block_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

namespace memtrace {
namespace {

constexpr unsigned kSpacing = 4;

LiveBlock block_at(std::uint64_t key, std::uint64_t bytes) {
  return {.key = key, .bytes = bytes};
}

std::map<std::uint64_t, std::uint64_t> all_of(const BlockTable& table) {
  std::map<std::uint64_t, std::uint64_t> all;
  table.for_each(
      [&all](const LiveBlock& block) { EXPECT_TRUE(all.emplace(block.key, block.bytes).second); });
  return all;
}

TEST(BlockTableTest, an_empty_table_has_no_block) {
  BlockTable table(kSpacing);
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.find(1), nullptr);
  EXPECT_FALSE(table.take(1).has_value());
}

TEST(BlockTableTest, a_second_block_of_an_address_gives_back_the_first) {
  BlockTable table(kSpacing);
  EXPECT_FALSE(table.put(block_at(0, 8)).has_value());
  EXPECT_EQ(table.put(block_at(0, 16))->bytes, 8U);
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.take(0)->bytes, 16U);
  EXPECT_TRUE(table.empty());
}

TEST(BlockTableTest, a_copy_changes_alone) {
  BlockTable table(kSpacing);
  table.put(block_at(1, 8));
  BlockTable copy = table;
  copy.change_each([](LiveBlock& block) { block.pid = 7; });
  EXPECT_EQ(copy.find(1)->pid, 7U);
  EXPECT_EQ(table.find(1)->pid, 0U);
}

// Neighbouring addresses, which are given out and taken back all the time.
class BlockTableSpacingTest : public testing::TestWithParam<unsigned> {};

TEST_P(BlockTableSpacingTest, agrees_with_a_map) {
  BlockTable table(GetParam());
  std::map<std::uint64_t, std::uint64_t> model;
  std::mt19937 random(7);
  for (int step = 0; step < 50000; ++step) {
    const std::uint64_t key = 0x100000 + random() % 600;
    const bool is_live = model.contains(key);
    if (random() % 2 == 0) {
      const auto former = table.put(block_at(key, step));
      ASSERT_EQ(former.has_value(), is_live);
      ASSERT_EQ(former ? former->bytes : 0, is_live ? model[key] : 0);
      model[key] = step;
    } else {
      const auto taken = table.take(key);
      ASSERT_EQ(taken.has_value(), is_live);
      ASSERT_EQ(taken ? taken->bytes : 0, is_live ? model[key] : 0);
      model.erase(key);
    }
    ASSERT_EQ(table.size(), model.size());
  }
  EXPECT_EQ(all_of(table), model);
}

INSTANTIATE_TEST_SUITE_P(BlockTableTest, BlockTableSpacingTest, testing::Values(0U, 4U, 6U));

}  // namespace
}  // namespace memtrace
