#include "state/world/world.h"

#include <gtest/gtest.h>

#include <array>

namespace memtrace {
namespace {

constexpr std::uint64_t kKernelMarker = 0xffffffffffffff80U;
constexpr std::uint64_t kUserMarker = 0xfffffffffffffe00U;

World::NewMapping mapping(std::uint32_t pid,
                          std::uint64_t start,
                          std::uint64_t limit,
                          const char* path) {
  return {.pid = pid,
          .range = {start, limit},
          .file_offset = 0x2000,
          .module = {.kind = ModuleKind::File, .path = path}};
}

CodeLocation innermost(const World& world, StackId stack) {
  return world.stacks().location(world.stacks().locations(stack).front());
}

TEST(WorldTest, an_address_becomes_module_and_offset_while_the_mapping_is_true) {
  World world({});
  world.map(mapping(10, 0x400000, 0x500000, "/bin/old"));
  const std::array<std::uint64_t, 2> chain = {kUserMarker, 0x400123};
  const StackId before = world.intern_stack(10, chain);
  world.map(mapping(10, 0x400000, 0x500000, "/bin/new"));
  const StackId after = world.intern_stack(10, chain);
  EXPECT_NE(before, after);
  EXPECT_EQ(world.modules().at(innermost(world, before).module).path, "/bin/old");
  EXPECT_EQ(world.modules().at(innermost(world, after).module).path, "/bin/new");
  EXPECT_EQ(innermost(world, before).offset, 0x2123U);
}

TEST(WorldTest, the_same_code_in_two_processes_is_one_stack) {
  World world({});
  world.map(mapping(10, 0x400000, 0x500000, "/bin/tool"));
  world.map(mapping(11, 0x700000, 0x800000, "/bin/tool"));
  const std::array<std::uint64_t, 2> one = {kUserMarker, 0x400123};
  const std::array<std::uint64_t, 2> two = {kUserMarker, 0x700123};
  EXPECT_EQ(world.intern_stack(10, one), world.intern_stack(11, two));
}

TEST(WorldTest, a_chain_that_leaves_all_mappings_ends_there) {
  World world({});
  world.map(mapping(10, 0x400000, 0x500000, "/bin/tool"));
  const std::array<std::uint64_t, 5> chain = {kUserMarker, 0x400123, 0x99, 0x400200, 0x98};
  const auto locations = world.stacks().locations(world.intern_stack(10, chain));
  ASSERT_EQ(locations.size(), 2U);
  EXPECT_FALSE(world.stacks().location(locations[1]).module.valid());
}

TEST(WorldTest, places_in_code_are_kept_without_the_stacks) {
  World world({.stacks = StackUse::Places});
  world.map(mapping(10, 0x400000, 0x500000, "/bin/tool"));
  const std::array<std::uint64_t, 3> chain = {kUserMarker, 0x400123, 0x400200};
  EXPECT_FALSE(world.intern_stack(10, chain).valid());
  EXPECT_FALSE(world.intern_stack(10, chain).valid());
  ASSERT_EQ(world.stacks().location_count(), 2U);
  EXPECT_EQ(world.stacks().location(LocationId{1}).offset, 0x2123U);
}

TEST(WorldTest, only_the_innermost_address_of_each_context_is_no_return_address) {
  World world({});
  world.map(mapping(10, 0x400000, 0x500000, "/bin/tool"));
  const std::array<std::uint64_t, 6> chain = {
      kKernelMarker, 0xffffffff81000010, 0xffffffff81000020, kUserMarker, 0x400123, 0x400200};
  const auto locations = world.stacks().locations(world.intern_stack(10, chain));
  ASSERT_EQ(locations.size(), 4U);
  const std::array<bool, 4> expected = {false, true, false, true};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(world.stacks().location(locations[i]).is_return_address, expected.at(i)) << i;
  }
}

TEST(WorldTest, one_part_of_the_stack_can_be_kept) {
  const std::array<std::uint64_t, 4> chain = {kKernelMarker, 0xffffffff81000010, kUserMarker, 0x7};
  World kernel({.part = StackPart::Kernel});
  EXPECT_EQ(kernel.stacks().locations(kernel.intern_stack(1, chain)).size(), 1U);
  EXPECT_EQ(innermost(kernel, kernel.intern_stack(1, chain)).module, kernel.modules().kernel());
  World user({.part = StackPart::User});
  user.map(mapping(1, 0, 0x1000, "/bin/tool"));
  EXPECT_EQ(innermost(user, user.intern_stack(1, chain)).offset, 0x2007U);
}

TEST(WorldTest, a_child_starts_with_its_parents_mappings_and_exec_drops_them) {
  World world({});
  world.map(mapping(10, 0x400000, 0x500000, "/bin/sh"));
  world.processes().rename(10, 10, world.strings().intern("sh"));
  world.processes().fork({.pid = 20, .parent_pid = 10, .tid = 20, .parent_tid = 10});
  const std::array<std::uint64_t, 2> chain = {kUserMarker, 0x400123};
  EXPECT_TRUE(innermost(world, world.intern_stack(20, chain)).module.valid());
  EXPECT_EQ(world.strings().at(world.processes().comm(20, 20)), "sh");
  world.processes().exec(20);
  EXPECT_FALSE(innermost(world, world.intern_stack(20, chain)).module.valid());
  EXPECT_TRUE(innermost(world, world.intern_stack(10, chain)).module.valid());
}

TEST(WorldTest, a_reused_pid_does_not_keep_its_former_name) {
  World world({});
  world.processes().rename(10, 10, world.strings().intern("parent"));
  world.processes().rename(20, 20, world.strings().intern("old"));
  world.processes().exit(20, 20);
  world.processes().fork({.pid = 20, .parent_pid = 10, .tid = 20, .parent_tid = 10});
  EXPECT_EQ(world.strings().at(world.processes().comm(20, 20)), "parent");
}

TEST(WorldTest, a_free_is_given_the_block_that_it_frees) {
  World world({.track_live_blocks = true});
  Event alloc{.time_ns = 5, .pid = 3, .tid = 3, .stack = StackId{9}};
  world.apply(alloc, SlabAlloc{.ptr = 0x1000, .bytes_req = 50, .bytes_alloc = 64});
  Event free{.time_ns = 9};
  world.apply(free, SlabFree{.ptr = 0x1000});
  ASSERT_NE(free.freed, nullptr);
  EXPECT_EQ(free.freed->bytes, 64U);
  EXPECT_EQ(free.freed->stack, StackId{9});
  EXPECT_EQ(world.unmatched_frees(), 0U);
}

TEST(WorldTest, frees_of_unknown_blocks_are_counted_but_not_kfree_of_null) {
  World world({.track_live_blocks = true});
  Event null_free;
  world.apply(null_free, SlabFree{.ptr = 0});
  EXPECT_EQ(world.unmatched_frees(), 0U);
  Event unknown;
  world.apply(unknown, PageFree{.page = 12});
  EXPECT_EQ(world.unmatched_frees(), 1U);
  EXPECT_EQ(unknown.freed, nullptr);
}

}  // namespace
}  // namespace memtrace
