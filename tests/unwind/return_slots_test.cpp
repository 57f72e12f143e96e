#include "unwind/return_slots.h"

#include <gtest/gtest.h>

namespace memtrace::return_slots_test {
namespace {

constexpr std::uint64_t kCaller = 0x5630c4fb8442;
constexpr std::uint64_t kTrampoline = 0x7fffffffe000;

TEST(ReturnSlots, remember_what_was_on_top_at_the_entry) {
  ReturnSlots slots;
  slots.note(7, {0x1000, kCaller, kCaller});
  EXPECT_EQ(slots.find(7, 0x1000), kCaller);
  EXPECT_FALSE(slots.find(7, 0x1008));
  EXPECT_FALSE(slots.find(8, 0x1000));
}

TEST(ReturnSlots, the_trampoline_is_nobodys_caller) {
  ReturnSlots slots;
  slots.note(7, {0x1000, kCaller, kCaller});
  slots.note(7, {0x1000, kTrampoline, kCaller});  // unwound through what was remembered
  EXPECT_EQ(slots.find(7, 0x1000), kCaller);
}

TEST(ReturnSlots, the_newest_of_a_slot_counts) {
  ReturnSlots slots;
  const std::uint64_t other = kCaller + 16;
  slots.note(7, {0x1000, kCaller, kCaller});
  slots.note(7, {0x1000, other, other});
  EXPECT_EQ(slots.find(7, 0x1000), other);
}

}  // namespace
}  // namespace memtrace::return_slots_test
