#include "views/stalls/pressure_window.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr std::uint64_t kWindowNs = 20'000;  // slots of 1,000

TEST(PressureWindow, pages_count_until_the_window_has_passed) {
  PressureWindow window(kWindowNs);
  window.move_to(500);
  window.allocate(1, 0x10, 8);
  ASSERT_EQ(window.sums().count(1), 1U);
  EXPECT_EQ(window.sums().at(1).pages, 8);
  window.move_to(19'500);
  EXPECT_EQ(window.sums().at(1).pages, 8);
  window.move_to(20'500);
  EXPECT_TRUE(window.sums().empty());
}

TEST(PressureWindow, a_gap_longer_than_the_window_empties_it) {
  PressureWindow window(kWindowNs);
  window.move_to(500);
  window.allocate(1, 0x10, 8);
  window.dirty(2, 3);
  window.move_to(5'000'000'000);
  EXPECT_TRUE(window.sums().empty());
  EXPECT_EQ(window.give_back(0x10, 8), std::nullopt);
}

TEST(PressureWindow, pages_that_are_given_back_do_not_count) {
  PressureWindow window(kWindowNs);
  window.move_to(500);
  window.allocate(7, 0x10, 8);
  window.allocate(7, 0x20, 1);
  window.move_to(1500);
  EXPECT_EQ(window.give_back(0x10, 8), 7U);
  EXPECT_EQ(window.sums().at(7).pages, 1);
  EXPECT_EQ(window.give_back(0x10, 8), std::nullopt);
  window.move_to(20'500);  // the slot in which both were taken goes
  EXPECT_TRUE(window.sums().empty());
}

// Its sum is 0 while a slot in which it gave all of it back is still to come: there is no sum then.
TEST(PressureWindow, actor_that_gave_back_all_is_not_taken_off_twice) {
  PressureWindow window(kWindowNs);
  window.move_to(500);
  window.allocate(7, 0x10, 8);
  window.move_to(5500);
  window.allocate(7, 0x20, 1);
  EXPECT_EQ(window.give_back(0x20, 1), 7U);
  window.move_to(20'500);  // the first slot goes
  EXPECT_TRUE(window.sums().empty());
  window.move_to(25'500);  // the other one goes
  EXPECT_EQ(window.sums().size(), 0U);
  for (std::uint32_t actor = 0; actor < 100; ++actor) {
    window.dirty(actor, 1);
  }
  EXPECT_EQ(window.sums().size(), 100U);
}

TEST(PressureWindow, a_page_is_followed_from_its_last_allocation_on) {
  PressureWindow window(kWindowNs);
  window.move_to(500);
  window.allocate(1, 0x10, 1);
  window.move_to(10'500);
  window.allocate(2, 0x10, 1);
  window.move_to(20'500);  // the first owner's slot goes
  EXPECT_EQ(window.sums().count(1), 0U);
  EXPECT_EQ(window.give_back(0x10, 1), 2U);
}

TEST(PressureWindow, its_memory_is_bounded) {
  PressureWindow window(kWindowNs);
  window.move_to(500);
  for (std::uint64_t page = 0; page < PressureWindow::kMaxTakenPages + 5; ++page) {
    window.allocate(1, page, 1);
  }
  EXPECT_EQ(window.forgotten(), 5U);
  EXPECT_EQ(window.give_back(PressureWindow::kMaxTakenPages, 1), std::nullopt);
  EXPECT_EQ(window.sums().at(1).pages,
            static_cast<std::int64_t>(PressureWindow::kMaxTakenPages + 5));
  window.move_to(50'500);
  window.allocate(1, 1, 1);  // there is room again
  EXPECT_EQ(window.give_back(1, 1), 1U);
}

}  // namespace
}  // namespace memtrace
