#include "session/loss_counter.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

Record at(std::uint64_t time_ns) {
  return {.stamp = {.time_ns = time_ns}};
}

std::vector<std::string> notes_of(const LossCounter& losses) {
  Caveats caveats;
  losses.note(caveats);
  return caveats.notes;
}

TEST(LossCounterTest, loss_that_is_only_perhaps_in_the_window_is_a_note) {
  IntervalClock clock({.window = {.start_ns = 10, .stop_ns = 30}});
  clock.enter_window(100);
  LossCounter losses(false);
  losses.count(at(105), {.count = 1}, clock, 110);
  EXPECT_EQ(losses.losses().lost, 0U) << "before the window";
  losses.count(at(115), {.count = 2}, clock, 110);
  EXPECT_EQ(losses.losses().lost, 2U);
  losses.count(at(120), {.count = 4, .first_ns = 90}, clock, 110);
  EXPECT_EQ(losses.losses().lost, 2U);
  ASSERT_EQ(notes_of(losses).size(), 1U);
  EXPECT_TRUE(notes_of(losses)[0].starts_with("up to 4 more events may be missing"));
  EXPECT_FALSE(losses.was_perhaps_before());
  losses.next_interval();
  EXPECT_TRUE(losses.was_perhaps_before());
  EXPECT_TRUE(notes_of(losses).empty());
}

TEST(LossCounterTest, files_own_list_takes_the_place_of_its_records) {
  const IntervalClock clock({});
  LossCounter losses(false);
  losses.count(at(5), {.count = 7}, clock, 0);
  losses.count_cut_stacks(3);
  losses.count_logged(
      {.losses = {{LossReason::Overload, 4, 5, 6}}}, clock, {.start_ns = 0, .end_ns = 10}, 0);
  EXPECT_EQ(losses.losses().lost, 0U);
  EXPECT_EQ(losses.losses().overload, 6U);
  EXPECT_EQ(losses.losses().cut, 3U);
}

TEST(LossCounterTest, live_losses_are_known_by_their_records_alone) {
  const IntervalClock clock({});
  LossCounter losses(true);
  losses.count(at(5), {.count = 7}, clock, 0);
  losses.count_logged({.losses = {{LossReason::Overload, 4, 5, 6}}}, clock, {}, 0);
  EXPECT_EQ(losses.losses().lost, 7U);
  EXPECT_EQ(losses.losses().overload, 0U);
}

TEST(LossCounterTest, mappings_stay_in_doubt_after_a_loss) {
  LossCounter losses(false);
  losses.doubt_mappings({.overload = 5});
  EXPECT_FALSE(losses.are_mappings_in_doubt()) << "under overload only samples are dropped";
  losses.doubt_mappings({.lost = 1});
  losses.next_interval();
  losses.doubt_mappings({});
  EXPECT_TRUE(losses.are_mappings_in_doubt());
}

}  // namespace
}  // namespace memtrace
