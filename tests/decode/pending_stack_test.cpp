#include "decode/pending_stack.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "tracepoints/event/event.h"

namespace memtrace {
namespace {

constexpr auto kChain = std::to_array<std::uint64_t>({0xffffffff81000100, 0xffffffff81000200});

class PendingStackTest : public testing::Test {
 protected:
  Event event(StackId made = {}) {
    return {.stack = pending_.of({.event = 3, .pid = 1, .stack = made}, kChain)};
  }

  std::size_t made() const { return world_.stacks().size(); }

  World world_{{}};
  AskedStacks asked_;
  PendingStack pending_{world_, asked_};
};

TEST_F(PendingStackTest, a_stack_is_made_when_it_is_asked_for) {
  const Event first = event();
  EXPECT_EQ(made(), 0U);
  EXPECT_TRUE(first.stack.valid());
  EXPECT_EQ(made(), 2U);
  EXPECT_EQ(first.stack.id(), world_.intern_stack(1, kChain));
}

TEST_F(PendingStackTest, an_event_that_moves_makes_nothing_and_one_that_is_copied_does) {
  Event first = event();
  const Event moved = std::move(first);
  EXPECT_EQ(made(), 0U);
  const Event copy = moved;
  EXPECT_EQ(made(), 2U);
  pending_.of({.pid = 1}, {});  // the next sample's
  EXPECT_TRUE(copy.stack.valid());
  EXPECT_EQ(moved.stack.id(), copy.stack.id());
}

TEST_F(PendingStackTest, a_stack_that_was_made_ahead_is_not_made_again) {
  const StackId ahead{77};
  EXPECT_EQ(event(ahead).stack.id(), ahead);
  EXPECT_EQ(made(), 0U);
}

TEST_F(PendingStackTest, who_asks_for_a_stack_is_noted_by_event) {
  EXPECT_FALSE(asked_.has(3));
  EXPECT_TRUE(event().stack.valid());
  EXPECT_TRUE(asked_.has(3));
  EXPECT_FALSE(asked_.has(2));
}

TEST_F(PendingStackTest, who_keeps_places_alone_has_them_without_asking) {
  World places({.stacks = StackUse::Places});
  PendingStack pending(places, asked_);
  EXPECT_FALSE(pending.of({.pid = 1}, kChain).valid());
  EXPECT_EQ(places.stacks().location_count(), 2U);
}

}  // namespace
}  // namespace memtrace
