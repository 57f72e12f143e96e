#include "views/kit/sums.h"

#include <gtest/gtest.h>

#include "views/kit/durations.h"

namespace memtrace {
namespace {

struct Part {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

struct Mixed {
  std::uint64_t count = 0;
  Largest longest_ns;
  Durations durations;
  Part part;
};

struct One {
  std::uint64_t count = 0;
};

struct Fifteen {
  std::uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11,
                l = 12, m = 13, n = 14, o = 15;
};

TEST(Sums, each_figure_is_added_by_its_own_rule) {
  Mixed sum{.count = 1, .longest_ns = {50}, .durations = {}, .part = {.count = 2, .bytes = 3}};
  Mixed more{.count = 10, .longest_ns = {40}, .durations = {}, .part = {.count = 20, .bytes = 30}};
  more.durations.add(7);
  sum += more;
  EXPECT_EQ(sum.count, 11U);
  EXPECT_EQ(sum.longest_ns.value, 50U);
  EXPECT_EQ(sum.durations.total_ns(), 7U);
  EXPECT_EQ(sum.part.count, 22U);
  EXPECT_EQ(sum.part.bytes, 33U);
}

TEST(Sums, a_larger_maximum_replaces_the_smaller) {
  Mixed sum{.count = 0, .longest_ns = {50}, .durations = {}, .part = {}};
  sum += {.count = 0, .longest_ns = {60}, .durations = {}, .part = {}};
  EXPECT_EQ(sum.longest_ns.value, 60U);
}

TEST(Sums, a_cost_may_have_one_figure_or_fifteen) {
  One one{.count = 1};
  one += {2};
  EXPECT_EQ(one.count, 3U);
  Fifteen many;
  many += Fifteen();
  EXPECT_EQ(many.a, 2U);
  EXPECT_EQ(many.h, 16U);
  EXPECT_EQ(many.o, 30U);
}

TEST(Sums, a_struct_of_any_size_is_counted) {
  EXPECT_EQ(sums_parts::figure_count<One>(), 1U);
  EXPECT_EQ(sums_parts::figure_count<Part>(), 2U);
  EXPECT_EQ(sums_parts::figure_count<Mixed>(), 4U);
  EXPECT_EQ(sums_parts::figure_count<Fifteen>(), 15U);
}

}  // namespace
}  // namespace memtrace
