// The bars of sampled sums hold the truth 19 times of 20, also where events were watched in
// windows.
#include "views/kit/sample_spread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "state/world/world.h"
#include "views/kit/group_by.h"

namespace memtrace::sample_spread_test {
namespace {

constexpr int kTrials = 400;
constexpr double kBar = 1.96;

// A program: the cycles that it runs for, and the events of each of their slots.
struct Load {
  std::uint64_t cycles = 100;
  std::function<std::uint64_t(std::uint64_t cycle, std::uint64_t slot)> events;
};

struct Outcome {
  double mean_share = 0;  // of the estimates in the truth
  double held = 0;        // share of the trials whose bar holds the truth
  double mean_bar = 0;    // in parts of the truth
};

// Sizes are 16, 100 or 4000 bytes.
Outcome try_out(const Load& load, std::uint64_t share, std::uint64_t period) {
  std::mt19937_64 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  constexpr auto kSizes = std::to_array<double>({16, 100, 16, 16, 4000});
  Outcome outcome;
  for (int trial = 0; trial < kTrials; ++trial) {
    double truth = 0;
    double estimate = 0;
    SumSpread spread;
    for (std::uint64_t cycle = 0; cycle < load.cycles; ++cycle) {
      const std::uint64_t watched = random() % share;
      for (std::uint64_t slot = 0; slot < share; ++slot) {
        const std::uint64_t events = load.events(cycle, slot);
        for (std::uint64_t i = 0; i < events; ++i) {
          const double size = kSizes[random() % kSizes.size()];
          truth += size;
          if (slot == watched && random() % period == 0) {
            const auto weight = static_cast<double>(period * share);
            estimate += weight * size;
            spread.add(weight * size,
                       {.weight = weight, .share = static_cast<double>(share), .window = cycle});
          }
        }
      }
    }
    const double bar = kBar * std::sqrt(spread.variance());
    outcome.mean_share += estimate / truth / kTrials;
    outcome.held += std::abs(estimate - truth) <= bar ? 1.0 / kTrials : 0;
    outcome.mean_bar += bar / truth / kTrials;
  }
  return outcome;
}

TEST(SampleSpreadTest, one_in_n_all_the_time) {
  const Outcome outcome = try_out({.cycles = 50, .events = [](auto, auto) { return 200; }}, 1, 5);
  EXPECT_NEAR(outcome.mean_share, 1, 0.01);
  EXPECT_NEAR(outcome.held, 0.95, 0.03);
}

TEST(SampleSpreadTest, a_steady_load_in_windows) {
  const Outcome outcome = try_out({.events = [](auto, auto) { return 40; }}, 8, 5);
  EXPECT_NEAR(outcome.mean_share, 1, 0.01);
  EXPECT_GE(outcome.held, 0.93);
  EXPECT_LE(outcome.held, 0.995);
  EXPECT_LE(outcome.mean_bar, 0.25);
}

// All of a second's work is done in a tenth of its slots.
TEST(SampleSpreadTest, bursts_that_most_windows_miss) {
  std::mt19937_64 random(3);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  const Outcome outcome = try_out(
      {.cycles = 200, .events = [&random](auto, auto) { return random() % 10 == 0 ? 100 : 0; }},
      8,
      2);
  EXPECT_NEAR(outcome.mean_share, 1, 0.02);
  EXPECT_GE(outcome.held, 0.92);
}

// The bar of a load that grows by ten times is not much wider than that of a steady one.
TEST(SampleSpreadTest, a_load_that_grows_by_ten_times) {
  const Outcome outcome =
      try_out({.events = [](std::uint64_t cycle, auto) { return cycle < 50 ? 8 : 80; }}, 8, 5);
  EXPECT_NEAR(outcome.mean_share, 1, 0.01);
  EXPECT_GE(outcome.held, 0.93);
  EXPECT_LE(outcome.mean_bar, 0.25);
}

// A program whose rhythm is that of the cycles.
TEST(SampleSpreadTest, a_rhythm_like_that_of_the_cycles) {
  const Outcome outcome = try_out(
      {.cycles = 200, .events = [](auto, std::uint64_t slot) { return slot == 2 ? 80 : 0; }}, 4, 1);
  EXPECT_NEAR(outcome.mean_share, 1, 0.02);
  EXPECT_GE(outcome.held, 0.92);
}

struct Sum {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

constexpr auto kFigures = std::to_array<Figure<Sum>>({
    figure<&Sum::count>("count"),
    figure<&Sum::bytes>("bytes", Unit::Bytes),
});
constexpr auto kKeys = std::to_array<std::string_view>({"pid"});

Table table_of(const std::vector<Event>& events) {
  const World world({});
  GroupBy<Sum> rows(KeySet::choose({}, kKeys).take());
  for (const Event& event : events) {
    rows.row(event) += {event.weight, event.weight * event.cpu};  // the CPU is used as the bytes
  }
  return rows.table(kFigures, {.world = world, .span = {}});
}

Event event_of(std::uint32_t pid, std::uint64_t weight, std::uint32_t bytes) {
  Event event;
  event.pid = pid;
  event.weight = weight;
  event.cpu = bytes;
  return event;
}

TEST(SampleErrorsTest, rows_have_errors_of_their_count_and_of_their_bytes) {
  const Table table = table_of({event_of(1, 5, 10), event_of(2, 1, 7), event_of(1, 5, 30)});
  ASSERT_EQ(table.columns.size(), 5U);
  EXPECT_EQ(table.columns[3].name, "error");
  EXPECT_EQ(table.columns[4].name, "bytes_error");
  // Of two that count for five each: 5 * 5 * (1 - 1/5), twice.
  EXPECT_NEAR(std::get<double>(table.rows[0][3]), 100 * 1.96 * std::sqrt(40.0) / 10, 0.1);
  const double bytes = std::sqrt((50.0 * 50 + 150.0 * 150) * 4 / 5);
  EXPECT_NEAR(std::get<double>(table.rows[0][4]), 100 * 1.96 * bytes / 200, 0.1);
  EXPECT_EQ(table.rows[1][3], Cell(0.0));  // recorded whole
  EXPECT_EQ(table.rows[1][4], Cell(0.0));
}

TEST(SampleErrorsTest, a_table_of_events_that_were_all_recorded_has_none) {
  EXPECT_EQ(table_of({event_of(1, 1, 10), event_of(2, 1, 7)}).columns.size(), 3U);
}

TEST(SampleErrorsTest, rows_that_become_one_vary_alike_at_worst) {
  SumSpread one;
  one.add(10, {.weight = 2, .share = 1});
  SumSpread two = one;
  two.add(one);
  EXPECT_NEAR(two.variance(), 4 * one.variance(), 1e-9);
}

}  // namespace
}  // namespace memtrace::sample_spread_test
