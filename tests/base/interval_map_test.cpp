#include "base/interval_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>

namespace memtrace {
namespace {

constexpr std::uint64_t kSpace = 64;

// The same operations on one cell for each point: too plain to be wrong.
struct Naive {
  std::array<int, kSpace> values{};  // 0: nothing

  bool assign(std::uint64_t start, std::uint64_t limit, int value) {
    bool replaced = false;
    for (std::uint64_t point = start; point < limit; ++point) {
      replaced = replaced || values.at(point) != 0;
      values.at(point) = value;
    }
    return replaced;
  }
};

void expect_same(const IntervalMap<int>& map, const Naive& naive) {
  for (std::uint64_t point = 0; point < kSpace; ++point) {
    const auto* entry = map.find(point);
    ASSERT_EQ(entry == nullptr ? 0 : entry->value, naive.values.at(point)) << "at " << point;
  }
  EXPECT_EQ(map.covered(), kSpace - std::ranges::count(naive.values, 0));
  std::uint64_t end = 0;
  for (const auto& [start, entry] : map.entries()) {
    ASSERT_EQ(start, entry.start);
    ASSERT_LT(entry.start, entry.limit);
    ASSERT_LE(end, entry.start);
    end = entry.limit;
  }
}

TEST(IntervalMap, random_operations_agree_with_one_cell_for_each_point) {
  std::mt19937 random(1);  // NOLINT: the same numbers in every run
  for (int round = 0; round < 50; ++round) {
    IntervalMap<int> map;
    Naive naive;
    for (int step = 1; step <= 40; ++step) {
      const std::uint64_t start = random() % kSpace;
      const std::uint64_t limit = random() % (kSpace + 1);
      const int value = random() % 3 == 0 ? 0 : step;
      const bool expected = naive.assign(start, limit, value);
      const bool replaced = value == 0 ? map.erase(start, limit) : map.assign(start, limit, value);
      ASSERT_EQ(replaced, expected) << "round " << round << " step " << step;
      expect_same(map, naive);
    }
  }
}

TEST(IntervalMap, a_later_interval_cuts_an_earlier_one_in_two) {
  IntervalMap<char> map;
  EXPECT_FALSE(map.assign(0, 10, 'a'));
  EXPECT_TRUE(map.assign(3, 6, 'b'));
  EXPECT_TRUE(map.erase(5, 8));
  ASSERT_EQ(map.entries().size(), 3U);
  EXPECT_EQ(map.find(2)->value, 'a');
  EXPECT_EQ(map.find(4)->value, 'b');
  EXPECT_EQ(map.find(5), nullptr);
  EXPECT_EQ(map.find(8)->value, 'a');
  EXPECT_EQ(map.find(8)->start, 8U);
}

TEST(IntervalMap, neighbours_do_not_touch_each_other) {
  IntervalMap<char> map;
  map.assign(10, 20, 'a');
  EXPECT_FALSE(map.assign(0, 10, 'b'));
  EXPECT_FALSE(map.assign(20, 30, 'c'));
  EXPECT_EQ(map.find(19)->value, 'a');
  EXPECT_EQ(map.find(30), nullptr);
}

TEST(IntervalMap, intervals_without_points_change_nothing) {
  IntervalMap<char> map;
  map.assign(0, 10, 'a');
  EXPECT_FALSE(map.assign(5, 5, 'b'));
  EXPECT_FALSE(map.assign(8, 2, 'b'));
  EXPECT_FALSE(map.erase(5, 5));
  EXPECT_EQ(map.entries().size(), 1U);
}

TEST(IntervalMap, the_top_of_the_address_space_is_no_special_case) {
  constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();
  IntervalMap<char> map;
  map.assign(kTop - 4096, kTop, 'k');
  EXPECT_EQ(map.find(kTop - 1)->value, 'k');
  EXPECT_EQ(map.find(kTop), nullptr);
}

TEST(IntervalMap, a_cleared_map_is_empty) {
  IntervalMap<char> map;
  map.assign(0, 10, 'a');
  map.clear();
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.find(5), nullptr);
}

}  // namespace
}  // namespace memtrace
