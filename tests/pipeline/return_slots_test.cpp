#include "pipeline/return_slots.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr std::uint64_t kCaller = 0x5630c4fb8442;
constexpr std::uint64_t kTrampoline = 0x7fffffffe000;

Sample entry(const std::uint64_t& top, std::uint32_t tid = 7) {
  return {.tid = tid, .user_stack = std::as_bytes(std::span(&top, 1))};
}

TEST(ReturnSlots, remember_what_was_on_top_at_the_entry) {
  ReturnSlots slots;
  slots.note(entry(kCaller), 0x1000, kCaller);
  EXPECT_EQ(slots.find(7, 0x1000), kCaller);
  EXPECT_FALSE(slots.find(7, 0x1008));
  EXPECT_FALSE(slots.find(8, 0x1000));
}

TEST(ReturnSlots, the_trampoline_is_nobodys_caller) {
  ReturnSlots slots;
  slots.note(entry(kCaller), 0x1000, kCaller);
  slots.note(entry(kTrampoline), 0x1000, kCaller);  // unwound through what was remembered
  EXPECT_EQ(slots.find(7, 0x1000), kCaller);
}

TEST(ReturnSlots, the_newest_of_a_slot_counts) {
  ReturnSlots slots;
  const std::uint64_t other = kCaller + 16;
  slots.note(entry(kCaller), 0x1000, kCaller);
  slots.note(entry(other), 0x1000, other);
  EXPECT_EQ(slots.find(7, 0x1000), other);
}

TEST(ReturnSlots, a_sample_without_stack_says_nothing) {
  ReturnSlots slots;
  slots.note({.tid = 7}, 0x1000, kCaller);
  EXPECT_FALSE(slots.find(7, 0x1000));
}

}  // namespace
}  // namespace memtrace
