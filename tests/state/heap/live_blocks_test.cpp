#include "state/heap/live_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>

namespace memtrace::live_blocks_test {
namespace {

constexpr std::uint64_t kPage = 4096;

LiveBlock pages(std::uint64_t pfn, std::uint32_t order) {
  return {.kind = BlockKind::Page, .order = order, .key = pfn, .bytes = kPage << order};
}

std::uint64_t live_bytes(const LiveBlocks& blocks) {
  std::uint64_t sum = 0;
  blocks.pages().for_each([&](const LiveBlock& block) {
    EXPECT_EQ(block.bytes, kPage << block.order);
    EXPECT_EQ(blocks.pages().find(block.key), &block);
    sum += block.bytes;
  });
  return sum;
}

TEST(LiveBlocksTest, a_free_finds_its_allocation_once) {
  LiveBlocks blocks(kPage);
  blocks.allocate({.kind = BlockKind::Kmalloc, .key = 0x1000, .bytes = 64, .stack = StackId{7}});
  const auto freed = blocks.free_slab(0x1000);
  ASSERT_TRUE(freed.has_value());
  EXPECT_EQ(freed->stack, StackId{7});
  EXPECT_FALSE(blocks.free_slab(0x1000).has_value());
}

TEST(LiveBlocksTest, an_address_given_out_again_replaces_the_block_whose_free_was_not_seen) {
  LiveBlocks blocks(kPage);
  blocks.allocate({.kind = BlockKind::Kmalloc, .key = 0x1000, .bytes = 64});
  blocks.allocate({.kind = BlockKind::Kmalloc, .key = 0x1000, .bytes = 128});
  EXPECT_EQ(blocks.slabs().size(), 1U);
  EXPECT_EQ(blocks.free_slab(0x1000)->bytes, 128U);
}

TEST(LiveBlocksTest, a_part_of_a_page_block_leaves_the_rest_live) {
  LiveBlocks blocks(kPage);
  blocks.allocate(pages(64, 3));
  const auto part = blocks.free_pages({.page = 69, .order = 0});
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->bytes, kPage);
  EXPECT_EQ(live_bytes(blocks), 7 * kPage);
  EXPECT_FALSE(blocks.free_pages({.page = 69, .order = 0}).has_value());
  EXPECT_EQ(blocks.free_pages({.page = 64, .order = 2})->bytes, 4 * kPage);
  EXPECT_EQ(live_bytes(blocks), 3 * kPage);
}

TEST(LiveBlocksTest, single_pages_can_be_freed_as_one_block) {
  LiveBlocks blocks(kPage);
  for (std::uint64_t pfn = 32; pfn < 36; ++pfn) {
    blocks.allocate(pages(pfn, 0));
  }
  EXPECT_EQ(blocks.free_pages({.page = 32, .order = 2})->bytes, 4 * kPage);
  EXPECT_TRUE(blocks.pages().empty());
}

TEST(LiveBlocksTest, struct_page_addresses_have_no_neighbours) {
  LiveBlocks blocks(kPage);
  blocks.allocate(pages(0xffffea0000001000, 0));
  EXPECT_FALSE(blocks.free_pages({.page = 0xffffea0000001040, .page_is_pfn = false}).has_value());
  EXPECT_TRUE(blocks.free_pages({.page = 0xffffea0000001000, .page_is_pfn = false}).has_value());
}

// Every operation is mirrored on a naive set of single pages: blocks are allocated where all pages
// are free, and freed in any size where all pages are live.
TEST(LiveBlocksTest, agrees_with_a_naive_model_of_single_pages) {
  LiveBlocks blocks(kPage);
  std::array<bool, 256> live{};
  std::mt19937 random(42);
  int freed_count = 0;
  for (int step = 0; step < 20000; ++step) {
    const std::uint32_t order = random() % 4;
    const std::uint64_t pfn = (random() % live.size()) & ~((std::uint64_t{1} << order) - 1);
    const auto first = live.begin() + static_cast<std::ptrdiff_t>(pfn);
    const auto last = first + (std::ptrdiff_t{1} << order);
    if (std::none_of(first, last, std::identity())) {
      blocks.allocate(pages(pfn, order));
      std::fill(first, last, true);
    } else if (std::all_of(first, last, std::identity())) {
      const auto part = blocks.free_pages({.page = pfn, .order = order});
      ASSERT_TRUE(part.has_value());
      ASSERT_EQ(part->bytes, kPage << order);
      std::fill(first, last, false);
      ++freed_count;
    }
    const auto live_count = std::count(live.begin(), live.end(), true);
    ASSERT_EQ(live_bytes(blocks), static_cast<std::uint64_t>(live_count) * kPage);
  }
  EXPECT_GT(freed_count, 1000);
}

}  // namespace
}  // namespace memtrace::live_blocks_test
