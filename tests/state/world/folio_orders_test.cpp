#include "state/world/folio_orders.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr std::uint32_t kTid = 7;
constexpr std::uint64_t kPage = 0x3cfa00;

PageAlloc folio(std::uint64_t page, std::uint32_t order) {
  return {.page = page, .order = order, .like_huge_page = order >= kSmallestFolioOrder};
}

class FolioOrdersTest : public testing::Test {
 protected:
  // A single page, elsewhere: the recording has all allocations.
  FolioOrdersTest() { alloc(1, 0); }

  void alloc(std::uint64_t page, std::uint32_t order) { orders_.on(folio(page, order), 1); }

  std::uint64_t write(std::uint64_t page, std::uint32_t tid = kTid) {
    return orders_.written_at(page, tid);
  }

  FolioOrders orders_;
};

TEST_F(FolioOrdersTest, a_write_is_of_the_whole_folio) {
  alloc(kPage, 4);
  alloc(kPage + 512, 9);
  EXPECT_EQ(write(kPage), 16U);
  EXPECT_EQ(write(kPage + 512), 512U);
  EXPECT_EQ(write(kPage + 16), 1U);
}

TEST_F(FolioOrdersTest, other_allocations_of_that_order_are_no_folios) {
  orders_.on({.page = kPage, .order = 4}, 1);
  EXPECT_EQ(write(kPage), 1U);
}

TEST_F(FolioOrdersTest, a_folio_is_gone_when_one_of_its_pages_is_allocated_again) {
  for (const std::uint64_t again : {kPage, kPage + 15}) {
    alloc(kPage, 4);
    alloc(again, 0);
    EXPECT_EQ(write(kPage), 1U);
  }
  alloc(kPage, 4);
  alloc(kPage, 9);
  EXPECT_EQ(write(kPage), 512U);
}

TEST_F(FolioOrdersTest, a_folio_that_is_split_counts_once_when_its_pages_follow) {
  alloc(kPage, 4);
  std::uint64_t pages = 0;
  for (std::uint64_t page = kPage; page < kPage + 16; ++page) {
    pages += write(page);
  }
  EXPECT_EQ(pages, 16U);
}

TEST_F(FolioOrdersTest, a_folio_that_was_split_before_is_written_page_by_page) {
  alloc(kPage, 4);
  EXPECT_EQ(write(kPage + 3), 1U);
  EXPECT_EQ(write(kPage), 1U);
}

TEST_F(FolioOrdersTest, pages_that_another_task_writes_are_of_a_folio_that_was_split_before) {
  alloc(kPage, 4);
  EXPECT_EQ(write(kPage), 16U);
  EXPECT_EQ(write(kPage + 1, kTid + 1), 1U);
  EXPECT_EQ(write(kPage + 2), 1U);
}

TEST(FolioOrders, are_not_known_where_only_large_allocations_are_seen) {
  FolioOrders orders;
  orders.on(folio(kPage, 4), 1);
  EXPECT_EQ(orders.written_at(kPage, kTid), 1U);
}

TEST(FolioOrders, are_not_known_of_samples) {
  FolioOrders orders;
  orders.on(folio(1, 0), 100);
  orders.on(folio(kPage, 4), 100);
  EXPECT_EQ(orders.written_at(kPage, kTid), 1U);
}

TEST(FolioOrders, page_structs_of_old_kernels_have_no_neighbours) {
  FolioOrders orders;
  orders.on(folio(1, 0), 1);
  PageAlloc alloc = folio(kPage, 4);
  alloc.page_is_pfn = false;
  orders.on(alloc, 1);
  EXPECT_EQ(orders.written_at(kPage, kTid), 1U);
}

TEST(FolioOrders, of_many_folios_those_of_the_newest_are_kept) {
  FolioOrders orders;
  orders.on(folio(1, 0), 1);
  constexpr std::uint64_t kFolios = 1'000'000;
  for (std::uint64_t i = 1; i <= kFolios; ++i) {
    orders.on(folio(16 * i, 4), 1);
  }
  EXPECT_EQ(orders.written_at(16 * kFolios, kTid), 16U);
  EXPECT_EQ(orders.written_at(16, kTid), 1U);
}

}  // namespace
}  // namespace memtrace
