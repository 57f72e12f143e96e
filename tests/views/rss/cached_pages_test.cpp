#include "views/rss/cached_pages.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(CachedPages, pages_that_enter_again_are_counted) {
  CachedPages pages;
  EXPECT_EQ(pages.add(0, 16, true), 0U);
  EXPECT_EQ(pages.add(8, 16, true), 8U);
  EXPECT_EQ(pages.add(8, 1, true), 1U);
  EXPECT_EQ(pages.distinct(), 24U);
  EXPECT_EQ(pages.piece_count(), 1U);
  EXPECT_TRUE(pages.is_complete());
}

TEST(CachedPages, far_pages_take_a_piece_each_as_long_as_there_may_be_more) {
  CachedPages pages;
  EXPECT_EQ(pages.add(std::uint64_t{1} << 40U, 1, true), 0U);
  EXPECT_EQ(pages.add(CachedPages::kPagesPerPiece - 1, 2, true), 0U);
  EXPECT_EQ(pages.piece_count(), 3U);
  EXPECT_EQ(pages.add(std::uint64_t{1} << 41U, 1, false), 0U);
  EXPECT_EQ(pages.piece_count(), 3U);
  EXPECT_FALSE(pages.is_complete());
  EXPECT_EQ(pages.add(std::uint64_t{1} << 40U, 1, false), 1U);
  EXPECT_EQ(pages.distinct(), 3U);
}

}  // namespace
}  // namespace memtrace
