#include "state/heap/mapped_blocks.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace memtrace::mapped_blocks_test {
namespace {

constexpr std::uint32_t kPid = 7;

LiveBlock block(std::uint64_t start, std::uint64_t limit, std::uint32_t pid = kPid) {
  LiveBlock made;
  made.kind = BlockKind::Heap;
  made.key = start;
  made.bytes = limit - start;
  made.pid = pid;
  return made;
}

struct Sum {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const Sum&, const Sum&) = default;
};

Sum sum_of(const MappedBlocks& blocks, bool inherited = false) {
  Sum sum;
  blocks.for_each([&](const LiveBlock& each) {
    if (each.is_inherited == inherited) {
      ++sum.count;
      sum.bytes += each.bytes;
    }
  });
  return sum;
}

TEST(MappedBlocks, a_hole_leaves_one_block_of_fewer_bytes) {
  MappedBlocks blocks;
  EXPECT_TRUE(blocks.map(block(1000, 2000)).empty());
  const auto pieces = blocks.unmap(kPid, 1200, 1300);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].block.bytes, 100U);
  EXPECT_FALSE(pieces[0].is_last);
  EXPECT_EQ(sum_of(blocks), (Sum{1, 900}));
  const auto rest = blocks.unmap(kPid, 0, 5000);
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].block.bytes, 900U);
  EXPECT_TRUE(rest[0].is_last);
  EXPECT_EQ(sum_of(blocks), (Sum{0, 0}));
}

TEST(MappedBlocks, a_mapping_over_others_takes_their_bytes) {
  MappedBlocks blocks;
  blocks.map(block(1000, 2000));
  blocks.map(block(2000, 3000));
  const auto covered = blocks.map(block(1500, 3000));
  ASSERT_EQ(covered.size(), 2U);
  EXPECT_EQ(sum_of(blocks), (Sum{2, 2000}));
  EXPECT_TRUE(blocks.is_known(kPid, 2999));
  EXPECT_FALSE(blocks.is_known(kPid, 3000));
}

TEST(MappedBlocks, a_childs_copies_are_its_own_to_unmap_and_not_its_allocations) {
  MappedBlocks blocks;
  blocks.map(block(1000, 2000));
  blocks.fork(kPid, 8);
  blocks.map(block(5000, 6000, 8));
  blocks.unmap(8, 1000, 1500);
  EXPECT_EQ(sum_of(blocks), (Sum{2, 2000}));
  EXPECT_EQ(sum_of(blocks, true), (Sum{1, 500}));
  blocks.exec(8);
  EXPECT_EQ(sum_of(blocks), (Sum{1, 1000}));
  EXPECT_EQ(sum_of(blocks, true), (Sum{0, 0}));
}

TEST(MappedBlocks, a_top_is_known_from_its_second_move_on) {
  MappedBlocks blocks;
  EXPECT_EQ(blocks.move_top(kPid, 100), 0U);
  EXPECT_EQ(blocks.move_top(kPid, 300), 100U);
}

// Page by page, as simple as can be.
TEST(MappedBlocks, agrees_with_a_naive_model) {
  constexpr std::size_t kPages = 64;
  std::mt19937 random(1);
  MappedBlocks blocks;
  std::array<int, kPages> owner{};
  int next = 0;
  for (int turn = 0; turn < 4000; ++turn) {
    const std::size_t start = random() % kPages;
    const std::size_t limit = start + 1 + random() % (kPages - start);
    const bool maps = random() % 2 == 0;
    std::size_t covered = 0;
    next += maps ? 1 : 0;
    for (std::size_t page = start; page < limit; ++page) {
      covered += owner.at(page) != 0 ? 1 : 0;
      owner.at(page) = maps ? next : 0;
    }
    const auto pieces =
        maps ? blocks.map(block(start + 1, limit + 1)) : blocks.unmap(kPid, start + 1, limit + 1);
    std::uint64_t bytes = 0;
    for (const auto& piece : pieces) {
      bytes += piece.block.bytes;
    }
    ASSERT_EQ(bytes, covered) << turn;
    std::map<int, std::uint64_t> left;
    for (const int each : owner) {
      left[each] += each != 0 ? 1 : 0;
    }
    left.erase(0);
    Sum wanted{left.size(), 0};
    for (const auto& [number, pages] : left) {
      wanted.bytes += pages;
    }
    ASSERT_EQ(sum_of(blocks), wanted) << turn;
  }
}

}  // namespace
}  // namespace memtrace::mapped_blocks_test
