#include "views/kit/figures.h"

#include <gtest/gtest.h>

#include <array>

#include "views/kit/sums.h"

namespace memtrace {
namespace {

struct Cost {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  Largest longest_ns;
  Durations durations;

  std::int64_t net_bytes() const { return -static_cast<std::int64_t>(bytes); }
};

struct Context : CellContext {
  bool is_known = false;

  bool is_unknown() const { return !is_known; }
};

class Figures : public testing::Test {
 protected:
  // What the figure shows of the cost.
  Cell shown(const Figure<Cost, Context>& figure) const {
    const Context context{{.world = world_, .span = {.start_ns = 0, .end_ns = 2'000'000'000}},
                          is_known_};
    return figure.of(cost_, context);
  }

  World world_{{}};
  Cost cost_{.count = 4, .bytes = 400, .longest_ns = {9}, .durations = {}};
  bool is_known_ = false;
};

TEST_F(Figures, are_columns_of_counts_unless_another_unit_is_said) {
  constexpr Figure<Cost> kCount = figure<&Cost::count>("count");
  constexpr Figure<Cost> kBytes = figure<&Cost::bytes>("bytes", Unit::Bytes);
  EXPECT_EQ(kCount.name, "count");
  EXPECT_EQ(kCount.unit, Unit::Count);
  EXPECT_EQ(kBytes.unit, Unit::Bytes);
}

TEST_F(Figures, show_a_member_or_a_function_or_a_member_of_a_member) {
  EXPECT_EQ(shown(figure<&Cost::count>("")), Cell(std::uint64_t{4}));
  EXPECT_EQ(shown(figure<&Cost::net_bytes>("")), Cell(std::int64_t{-400}));
  EXPECT_EQ(shown(figure<&Cost::longest_ns, &Largest::value>("")), Cell(std::uint64_t{9}));
}

TEST_F(Figures, are_blank_unless_the_context_knows_them) {
  EXPECT_EQ(shown(figure_if<&Context::is_known, &Cost::count>("")), Cell());
  EXPECT_EQ(shown(figure_if<&Context::is_unknown, &Cost::count>("")), Cell(std::uint64_t{4}));
  is_known_ = true;
  EXPECT_EQ(shown(figure_if<&Context::is_known, &Cost::count>("")), Cell(std::uint64_t{4}));
}

TEST_F(Figures, of_nothing_are_blank) {
  cost_.count = 0;
  EXPECT_EQ(shown(figure_unless_zero<&Cost::count>("")), Cell());
  EXPECT_EQ(shown(mean_figure<&Cost::bytes, &Cost::count>("", Unit::Bytes)), Cell());
  EXPECT_EQ(shown(percent_figure<&Cost::bytes, &Cost::count>("")), Cell());
  EXPECT_EQ(shown(average_figure<&Cost::durations>()), Cell());
  EXPECT_EQ(shown(percentile_figure<&Cost::durations, 99>("")), Cell());
}

TEST_F(Figures, relate_two_members) {
  EXPECT_EQ(shown(mean_figure<&Cost::bytes, &Cost::count>("", Unit::Bytes)),
            Cell(std::uint64_t{100}));
  EXPECT_EQ(shown(percent_figure<&Cost::count, &Cost::bytes>("")), Cell(1.0));
  EXPECT_EQ(shown(rate_figure<&Cost::count>("")), Cell(2.0));
}

TEST_F(Figures, of_latencies_have_the_names_that_all_views_give_them) {
  cost_.durations.add(10);
  cost_.durations.add(20);
  const Figure<Cost, Context> average = average_figure<&Cost::durations>();
  const Figure<Cost, Context> longest = longest_figure<&Cost::durations>();
  EXPECT_EQ(average.name, "avg_ns");
  EXPECT_EQ(longest.name, "max_ns");
  EXPECT_EQ(longest.unit, Unit::Nanoseconds);
  EXPECT_EQ(shown(average), Cell(std::uint64_t{15}));
  EXPECT_EQ(shown(longest), Cell(std::uint64_t{20}));
  EXPECT_EQ(shown(latency_figure<&Cost::durations, &Durations::min_ns>("min")),
            Cell(std::uint64_t{10}));
}

}  // namespace
}  // namespace memtrace
