#include "views/leak/pinned_pages.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace memtrace::pinned_pages_test {
namespace {

constexpr std::uint64_t kPage = 4096;

LiveBlock block_at(std::uint64_t address, std::uint64_t bytes, std::uint32_t pid = 1) {
  LiveBlock block;
  block.key = address;
  block.bytes = bytes;
  block.pid = pid;
  return block;
}

PinnedPages pages_of(const std::vector<LiveBlock>& blocks) {
  std::vector<const LiveBlock*> pointers;
  for (const LiveBlock& block : blocks) {
    pointers.push_back(&block);
  }
  return PinnedPages(pointers, kPage);
}

TEST(PinnedPages, a_block_alone_keeps_its_whole_page) {
  const std::vector blocks = {block_at(7 * kPage + 100, 64)};
  EXPECT_EQ(pages_of(blocks).bytes_kept_by(blocks[0]), kPage);
}

TEST(PinnedPages, blocks_share_a_page_by_their_sizes) {
  const std::vector blocks = {block_at(kPage, 64), block_at(kPage + 64, 192)};
  const PinnedPages pages = pages_of(blocks);
  EXPECT_EQ(pages.bytes_kept_by(blocks[0]), kPage / 4);
  EXPECT_EQ(pages.bytes_kept_by(blocks[1]), kPage * 3 / 4);
}

TEST(PinnedPages, a_large_block_keeps_what_it_fills_and_its_ends) {
  const std::vector blocks = {block_at(kPage + 96, 3 * kPage)};
  EXPECT_EQ(pages_of(blocks).bytes_kept_by(blocks[0]), 4 * kPage);
}

TEST(PinnedPages, the_same_address_in_two_processes_is_two_pages) {
  const std::vector blocks = {block_at(kPage, 64, 1), block_at(kPage + 64, 64, 2)};
  EXPECT_EQ(pages_of(blocks).bytes_kept_by(blocks[0]), kPage);
}

TEST(PinnedPages, a_block_of_no_bytes_keeps_a_page_that_has_no_other) {
  const std::vector blocks = {
      block_at(kPage + 8, 0), block_at(2 * kPage, 0), block_at(2 * kPage + 16, 32)};
  const PinnedPages pages = pages_of(blocks);
  EXPECT_EQ(pages.bytes_kept_by(blocks[0]), kPage);
  EXPECT_EQ(pages.bytes_kept_by(blocks[1]), 0U);
}

}  // namespace
}  // namespace memtrace::pinned_pages_test
