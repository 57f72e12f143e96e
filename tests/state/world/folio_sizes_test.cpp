#include "state/world/folio_sizes.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr std::uint64_t kInode = 12;

PageCacheChange added(std::uint64_t index, std::uint32_t order, std::uint32_t minor = 1) {
  return {.device_major = 8,
          .device_minor = minor,
          .inode = kInode,
          .index = index,
          .order = order,
          .added = true};
}

PageCacheChange taken_out(std::uint64_t index, std::uint32_t order) {
  PageCacheChange change = added(index, order);
  change.added = false;
  return change;
}

TEST(FolioSizes, are_those_of_the_folio_that_begins_at_the_index) {
  FolioSizes sizes;
  sizes.on(added(512, 9));
  EXPECT_EQ(sizes.pages_at(kInode, 512), 512U);
  EXPECT_EQ(sizes.pages_at(kInode, 513), 1U);
  EXPECT_EQ(sizes.pages_at(kInode + 1, 512), 1U);
}

TEST(FolioSizes, follow_what_takes_the_place_of_a_folio) {
  FolioSizes sizes;
  sizes.on(added(0, 9));
  sizes.on(taken_out(0, 9));
  EXPECT_EQ(sizes.pages_at(kInode, 0), 1U);
  sizes.on(added(0, 2));
  EXPECT_EQ(sizes.pages_at(kInode, 0), 4U);
  sizes.on(added(0, 0));
  EXPECT_EQ(sizes.pages_at(kInode, 0), 1U);
}

TEST(FolioSizes, are_not_known_where_two_devices_have_different_ones) {
  FolioSizes sizes;
  sizes.on(added(0, 9, 1));
  sizes.on(added(0, 9, 2));
  EXPECT_EQ(sizes.pages_at(kInode, 0), 512U);
  sizes.on(added(0, 2, 3));
  EXPECT_EQ(sizes.pages_at(kInode, 0), 1U);
}

TEST(FolioSizes, of_many_folios_those_of_the_newest_are_kept) {
  FolioSizes sizes;
  constexpr std::uint64_t kFolios = 1'000'000;
  for (std::uint64_t folio = 0; folio < kFolios; ++folio) {
    sizes.on(added(2 * folio, 1));
  }
  EXPECT_EQ(sizes.pages_at(kInode, 2 * (kFolios - 1)), 2U);
  EXPECT_EQ(sizes.pages_at(kInode, 2 * (kFolios - 131'072)), 2U);
  EXPECT_EQ(sizes.pages_at(kInode, 0), 1U);
}

}  // namespace
}  // namespace memtrace
