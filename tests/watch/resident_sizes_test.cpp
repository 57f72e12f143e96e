#include "watch/resident_sizes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace memtrace {
namespace {

TEST(ResidentSizes, of_this_machine_has_this_process_by_name) {
  EXPECT_GT(resident_bytes(static_cast<std::uint32_t>(::getpid())), 0U);
  const auto sizes = resident_sizes();
  ASSERT_FALSE(sizes.empty());
  EXPECT_LE(sizes.size(), kMostSizes);
  EXPECT_FALSE(sizes.front().comm.empty());
  EXPECT_TRUE(std::ranges::is_sorted(sizes, std::ranges::greater(), &ResidentSize::bytes));
}

TEST(ResidentSizes, process_that_is_gone_has_none) {
  EXPECT_EQ(resident_bytes(0x7fffffff), 0U);
  EXPECT_TRUE(resident_sizes("/no/such/folder").empty());
}

TEST(ResidentSizes, those_that_have_grown_come_most_first) {
  constexpr std::uint64_t kMebibyte = 1U << 20;
  const std::vector<ResidentSize> before = {{1, "same", 9 * kMebibyte}, {2, "old", kMebibyte}};
  const std::vector<ResidentSize> now = {{1, "same", 9 * kMebibyte + 5},
                                         {2, "old", 3 * kMebibyte},
                                         {3, "new", 7 * kMebibyte},
                                         {4, "tiny", 5}};
  EXPECT_EQ(grown_since(before, now),
            (std::vector<GrownProcess>{{3, "new", 0, 7 * kMebibyte},
                                       {2, "old", kMebibyte, 3 * kMebibyte}}));
}

}  // namespace
}  // namespace memtrace
