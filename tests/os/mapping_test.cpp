#include "os/mapping.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>

namespace memtrace {
namespace {

constexpr Mapping::Request kPage{
    .size_bytes = 4096, .prot = PROT_READ | PROT_WRITE, .flags = MAP_PRIVATE | MAP_ANONYMOUS};

// mincore(2) fails with ENOMEM for memory that is not mapped.
bool is_mapped(std::byte* start) {
  unsigned char resident = 0;
  return ::mincore(start, 1, &resident) == 0;
}

TEST(Mapping, memory_can_be_written_and_is_unmapped_at_the_end) {
  std::byte* start = nullptr;
  {
    auto mapping = Mapping::map(kPage);
    ASSERT_TRUE(mapping.ok());
    start = mapping.value().bytes().data();
    mapping.value().bytes()[4095] = std::byte{1};
    EXPECT_TRUE(is_mapped(start));
  }
  EXPECT_FALSE(is_mapped(start));
}

TEST(Mapping, a_moved_mapping_has_one_owner) {
  Mapping first = Mapping::map(kPage).take();
  std::byte* start = first.bytes().data();
  Mapping second = std::move(first);
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): an empty mapping by contract
  EXPECT_EQ(second.bytes().data(), start);
  Mapping third;
  third = std::move(second);
  EXPECT_TRUE(is_mapped(start));
  EXPECT_EQ(third.bytes().size(), 4096U);
}

TEST(Mapping, what_cannot_be_mapped_is_an_error_with_errno) {
  const auto mapping =
      Mapping::map({.fd = -1, .size_bytes = 4096, .prot = PROT_READ, .flags = MAP_PRIVATE});
  ASSERT_FALSE(mapping.ok());
  EXPECT_EQ(mapping.error().errno_value, EBADF);
  EXPECT_EQ(mapping.error().message, "mmap");
}

}  // namespace
}  // namespace memtrace
