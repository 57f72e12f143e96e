#include "views/reason/page_reasons.h"

#include <gtest/gtest.h>

namespace memtrace::page_reasons_test {
namespace {

constexpr std::uint64_t kMega = 1U << 20U;

BlockRequest order_3() {
  return {.order = 3, .bytes = 32768, .gfp = "GFP_ATOMIC"};
}

Observation machine(const std::string& blocks, std::uint64_t free_bytes) {
  return {.facts = {.numbers = {{"slab", 9 * kMega},
                                {"slab_unreclaimable", 6 * kMega},
                                {"mlocked", kMega}}},
          .rows = {{.numbers = {{"node", 0}, {"free", 100 * kMega}, {"blocks_movable", 3}},
                    .texts = {{"zone", "DMA"}, {"blocks", "0 0 0 1"}}},
                   {.numbers = {{"node", 0},
                                {"free", free_bytes},
                                {"min", 2 * kMega},
                                {"blocks_unmovable", 30},
                                {"blocks_movable", 60},
                                {"blocks_reclaimable", 10}},
                    .texts = {{"zone", "Normal"}, {"blocks", blocks}}}}};
}

// 16 MiB in single pages: index (mm/vmstat.c) 1000 - (1000 + 4096 * 1000 / 8) / 4096 = 875.
TEST(PageReasons, small_pieces_are_fragmentation) {
  const Observation seen = machine("4096 0 0 0", 16 * kMega);
  const Reason reason = reason_of(order_3(), &seen);
  EXPECT_EQ(reason.code, "fragmentation");
  EXPECT_EQ(
      reason.sentence,
      "The kernel had no memory for a block of order 3 (32.0 KiB, GFP_ATOMIC). Zone Normal of "
      "node 0 has 16.0 MiB free. The fragmentation index is 0.875: there is enough memory, "
      "in too small pieces. 30% of its page blocks are unmovable, 10% reclaimable. Pinned on "
      "the machine: 6.0 MiB of slab that cannot be reclaimed, 1.0 MiB locked by programs.");
  EXPECT_NE(reason.change.find("compact_memory"), std::string::npos);
}

TEST(PageReasons, too_few_pages_are_a_shortage) {
  const Observation seen = machine("2 1 0 0", 16384);
  const Reason reason = reason_of(order_3(), &seen);
  EXPECT_EQ(reason.code, "low_memory");
  EXPECT_NE(reason.sentence.find("The fragmentation index is 0.500: too little memory"),
            std::string::npos)
      << reason.sentence;
}

TEST(PageReasons, a_block_below_the_watermark_is_kept) {
  Observation seen = machine("9 0 0 2", kMega);
  seen.rows[1].texts["free_movable"] = "9 0 0 2";
  seen.rows[1].texts["free_unmovable"] = "0 0 0 0";
  const Reason reason = reason_of(order_3(), &seen);
  EXPECT_EQ(reason.code, "watermark");
  EXPECT_EQ(reason.used, kMega);
  EXPECT_EQ(reason.limit, 2 * kMega);
  EXPECT_EQ(reason.excess, kMega + 32768);
  EXPECT_NE(reason.sentence.find("(of type movable)"), std::string::npos) << reason.sentence;
}

TEST(PageReasons, a_block_above_it_came_back) {
  const Observation seen = machine("9 0 0 200", 40 * kMega);
  EXPECT_EQ(reason_of(order_3(), &seen).code, "freed_since");
}

TEST(PageReasons, a_full_cgroup_refuses_what_the_machine_has) {
  Observation seen = machine("9 0 0 200", 40 * kMega);
  seen.facts.numbers["cgroup_usage"] = 4 * kMega;
  seen.facts.numbers["cgroup_limit"] = 4 * kMega;
  seen.facts.texts["cgroup"] = "/x";
  const Reason reason = reason_of(order_3(), &seen);
  EXPECT_EQ(reason.code, "memory_cgroup");
  EXPECT_EQ(reason.excess, 32768U);
  EXPECT_NE(reason.sentence.find("the memory of the cgroup /x is limited to 4.0 MiB: 4.0 MiB in "
                                 "use + 32.0 KiB asked for are 32.0 KiB too much."),
            std::string::npos)
      << reason.sentence;
  seen.facts.numbers["cgroup_usage"] = 3 * kMega;
  EXPECT_EQ(reason_of(order_3(), &seen).code, "freed_since");
}

TEST(PageReasons, nothing_is_said_of_what_was_not_read) {
  EXPECT_EQ(reason_of(order_3(), nullptr).code, "not_read");
  const Observation empty;
  EXPECT_EQ(reason_of(order_3(), &empty).code, "not_read");
}

TEST(PageReasons, an_object_is_named) {
  const Reason reason =
      reason_of({.order = 1, .bytes = 5000, .gfp = "GFP_NOWAIT", .object = "kmalloc"}, nullptr);
  EXPECT_NE(reason.sentence.find("kmalloc of 4.9 KiB (GFP_NOWAIT)"), std::string::npos)
      << reason.sentence;
}

}  // namespace
}  // namespace memtrace::page_reasons_test
