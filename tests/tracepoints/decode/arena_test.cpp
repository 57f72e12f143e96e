#include "tracepoints/decode/arena.h"

#include <gtest/gtest.h>

#include <array>

#include "tracepoints/decode/catalogue.h"

namespace memtrace {
namespace {

EventType probe(const std::string& name, std::size_t arguments) {
  EventType type;
  type.name = "memtrace_12:libc_memory_" + name;
  type.format.name = "libc_memory_" + name;
  for (std::size_t i = 0; i < arguments; ++i) {
    type.format.fields.push_back({.name = "arg" + std::to_string(i + 1),
                                  .offset_bytes = static_cast<std::uint32_t>(i * 8),
                                  .size_bytes = 8});
  }
  return type;
}

ArenaEvent decode(const std::string& name, const std::array<std::uint64_t, 3>& values) {
  auto decoder = decoder_for(probe(name, 3));
  EXPECT_TRUE(decoder.ok());
  const auto payload = decoder.value()({.raw = std::as_bytes(std::span(values))});
  return std::get<ArenaEvent>(payload);
}

TEST(ArenaProbe, names_of_ours_and_of_perf_are_known) {
  EXPECT_TRUE(is_arena_event("memtrace_12:libc_memory_arena_new"));
  EXPECT_TRUE(is_arena_event("sdt_libc:memory_arena_new_1"));
  EXPECT_FALSE(is_arena_event("memtrace_12:memory_arena_new"));
  EXPECT_FALSE(is_arena_event("memtrace_heap_12:libc_memory_arena_new"));
  EXPECT_EQ(user_probe_name("memtrace_12:foo_2"), "foo_2");
  EXPECT_EQ(user_probe_name("sdt_python:gc__start"), "python_gc__start");
  EXPECT_EQ(user_probe_name("memtrace_heap_12:malloc"), "");
  EXPECT_EQ(user_probe_name("kmem:kmalloc"), "");
}

TEST(ArenaProbe, arguments_are_told_apart_by_the_probe) {
  EXPECT_EQ(decode("arena_new", {0x30, 2200}).address, 0x30U);
  EXPECT_EQ(decode("arena_new", {0x30, 2200}).bytes, 2200U);
  EXPECT_EQ(decode("arena_reuse_wait", {1, 0x30, 0x40}).address, 0x30U);
  EXPECT_EQ(decode("arena_retry", {64, 0x30}).address, 0x30U);
  EXPECT_EQ(decode("arena_retry", {64, 0x30}).bytes, 64U);
  EXPECT_EQ(decode("heap_more", {0x1000, 8192}).op, ArenaOp::HeapMore);
  EXPECT_EQ(decode("memalign_retry", {64, 16}).op, ArenaOp::Retry);
}

TEST(ArenaProbe, several_places_of_a_probe_are_one_probe) {
  EXPECT_EQ(decode("heap_new_2", {0x1000, 8192}).op, ArenaOp::HeapNew);
  EXPECT_EQ(decode("arena_reuse_free_list_3", {0x30}).op, ArenaOp::ArenaReuseFreeList);
}

TEST(ArenaProbe, sbrk_is_read_in_either_order_and_not_when_it_failed) {
  EXPECT_EQ(decode("sbrk_more", {0x55550000, 4096}).bytes, 4096U);
  EXPECT_EQ(decode("sbrk_more", {4096, 0x55550000}).bytes, 4096U);
  EXPECT_EQ(decode("sbrk_more", {~0ULL, 4096}).op, ArenaOp::Other);
}

TEST(ArenaProbe, thresholds_that_could_not_be_fetched_are_not_zero) {
  const ArenaEvent both = decode("mallopt_free_dyn_thresholds", {4096, 8192});
  EXPECT_EQ(both.mmap_threshold_bytes, 4096U);
  EXPECT_EQ(both.trim_threshold_bytes, 8192U);
  auto decoder = decoder_for(probe("mallopt_free_dyn_thresholds", 1));
  ASSERT_TRUE(decoder.ok());
  const std::array<std::uint64_t, 1> raw = {4096};
  const auto one = std::get<ArenaEvent>(decoder.value()({.raw = std::as_bytes(std::span(raw))}));
  EXPECT_FALSE(one.trim_threshold_bytes);
}

TEST(ArenaProbe, a_probe_without_arguments_still_says_what_it_is) {
  auto decoder = decoder_for(probe("heap_new", 0));
  ASSERT_TRUE(decoder.ok());
  EXPECT_EQ(std::get<ArenaEvent>(decoder.value()({})).op, ArenaOp::HeapNew);
}

}  // namespace
}  // namespace memtrace
