// How long windows of user probes are.
#include "perf/pace/window_chooser.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "perf/pace/ladder.h"

namespace memtrace::window_chooser_test {
namespace {

constexpr double kMs = 1'000'000;
constexpr double kLimit = 0.02;

// What a program does that makes so many calls a second, each of which takes `call_ns`, and
// `probe_ns` more in a window; `waits`: it makes no more calls, however fast it is.
struct Program {
  double call_ns = 0;
  double probe_ns = 0;
  double calls_a_second = 0;  // that are asked for

  double calls(double wall_ns, double taken_ns) const {
    return std::min(calls_a_second * wall_ns / 1e9, wall_ns / (call_ns + taken_ns));
  }

  WindowChooser::Times in_window(double wall_ns) const {
    const double made = calls(wall_ns, probe_ns);
    return {.wall_ns = wall_ns,
            .watched_ns = made * (call_ns + probe_ns),
            .probes_ns = made * probe_ns};
  }

  WindowChooser::Times between(double wall_ns) const {
    return {.wall_ns = wall_ns, .watched_ns = calls(wall_ns, 0) * call_ns};
  }

  // Calls of a second that are seen, times what each counts for, by those that are made.
  double found(const WindowChooser::Choice& choice) const {
    return calls(static_cast<double>(choice.length_ns), probe_ns) *
           static_cast<double>(choice.share) / calls(1e9, 0);
  }

  double lost(const WindowChooser::Choice& choice) const {
    return in_window(static_cast<double>(choice.length_ns)).probes_ns / between(1e9).watched_ns;
  }
};

WindowChooser::Choice settle(WindowChooser& chooser, const Program& program) {
  WindowChooser::Choice choice = chooser.next();
  for (int i = 0; i < 30; ++i) {
    chooser.see_between(program.between(900 * kMs));
    chooser.see_window(program.in_window(static_cast<double>(choice.length_ns)));
    choice = chooser.next();
  }
  return choice;
}

TEST(WindowChooserTest,
     a_program_that_never_waits_is_found_whole_and_loses_no_more_than_the_limit) {
  const Program busy{.call_ns = 1000, .probe_ns = 4000, .calls_a_second = 1e9};
  WindowChooser chooser(kLimit, 0.8);
  const auto choice = settle(chooser, busy);
  EXPECT_NEAR(busy.found(choice), 1, 0.01);
  EXPECT_LT(busy.lost(choice), kLimit);
  EXPECT_GT(busy.lost(choice), kLimit / 3);
  EXPECT_NEAR(chooser.slower(), 5, 0.1);
}

TEST(WindowChooserTest, a_program_that_waits_for_its_clients_is_found_whole_too) {
  const Program idle{.call_ns = 1000, .probe_ns = 4000, .calls_a_second = 100'000};
  WindowChooser chooser(kLimit, 0.8);
  const auto choice = settle(chooser, idle);
  EXPECT_NEAR(idle.found(choice), 1, 0.01);
  EXPECT_LT(idle.lost(choice), kLimit);
  EXPECT_NEAR(chooser.slower(), 1, 0.1);
}

TEST(WindowChooserTest, the_first_window_takes_the_program_for_one_that_never_waits) {
  const Program busy{.call_ns = 1000, .probe_ns = 4000, .calls_a_second = 1e9};
  WindowChooser chooser(kLimit, 0.8);
  EXPECT_NEAR(busy.found(chooser.next()), 1, 0.01);
}

TEST(WindowChooserTest, who_becomes_busy_is_watched_less_at_once_and_more_step_by_step) {
  const Program busy{.call_ns = 1000, .probe_ns = 9000, .calls_a_second = 1e9};
  const Program light{.call_ns = 10'000, .probe_ns = 100, .calls_a_second = 1e9};
  WindowChooser chooser(kLimit, 0.01);
  EXPECT_EQ(settle(chooser, light).share, kProbeShares.front());
  chooser.see_window(busy.in_window(20 * kMs));
  EXPECT_GE(chooser.next().share, 450U);
  for (int i = 0; i < 5; ++i) {
    chooser.see_window(light.in_window(20 * kMs));
  }
  const std::uint64_t share = chooser.next().share;
  chooser.see_window(light.in_window(20 * kMs));
  EXPECT_GE(chooser.next().share, share / 2);
}

// A window in a time of many calls covers as much of the program's work as one of few.
TEST(WindowChooserTest, a_window_is_longer_where_its_probes_take_more_and_shorter_where_less) {
  const Program busy{.call_ns = 1000, .probe_ns = 1000, .calls_a_second = 1e9};
  WindowChooser chooser(kLimit, 0.5);
  const auto choice = settle(chooser, busy);
  const auto length_of = [&](const Program& program) {
    WindowProgress progress(choice, chooser);
    while (progress.left_ns() > 0) {
      progress.add(program.in_window(std::min(2 * kMs, static_cast<double>(progress.left_ns()))));
    }
    return progress.times().wall_ns;
  };
  const double usual_ns = length_of(busy);
  EXPECT_NEAR(usual_ns, 2e9 / static_cast<double>(choice.share), 0.1 * kMs);
  EXPECT_NEAR(length_of({.call_ns = 500, .probe_ns = 1000, .calls_a_second = 1e9}),
              1.5 * usual_ns,
              2 * kMs);
  EXPECT_NEAR(length_of({.call_ns = 9000, .probe_ns = 1000, .calls_a_second = 1e9}),
              usual_ns / 1.8,
              2 * kMs);
  EXPECT_NEAR(
      length_of({.call_ns = 1, .probe_ns = 1000, .calls_a_second = 1e9}), 3 * usual_ns, 1 * kMs);
}

TEST(WindowChooserTest, where_the_largest_share_costs_too_much_there_is_no_window) {
  WindowChooser chooser(0.005, 0.98);
  EXPECT_GT(chooser.next().share, 0U);  // what was before is an estimate
  chooser.see_window({.wall_ns = 20 * kMs, .watched_ns = 20 * kMs, .probes_ns = 19.6 * kMs});
  EXPECT_EQ(chooser.next().share, 0U);
}

TEST(WindowChooserTest, a_window_in_which_the_program_did_nothing_says_nothing) {
  WindowChooser chooser(kLimit, 0.8);
  const std::uint64_t share = chooser.next().share;
  chooser.see_window({.wall_ns = 20 * kMs});
  chooser.see_between({.wall_ns = 900 * kMs});
  EXPECT_EQ(chooser.next().share, share);
  EXPECT_NEAR(chooser.part(), 0.8, 0.001);
}

}  // namespace
}  // namespace memtrace::window_chooser_test
