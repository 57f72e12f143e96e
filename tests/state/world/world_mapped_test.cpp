// What programs map themselves is part of their heap; what allocators map is not counted again.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "state/mapping/map_flags.h"
#include "state/world/world.h"

namespace memtrace::world_mapped_test {
namespace {

constexpr std::uint32_t kPid = 10;
constexpr std::uint64_t kUserMarker = 0xfffffffffffffe00U;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kArea = 0x7f0000000000;
// Return addresses in the program, and places in libc and the loader.
constexpr std::uint64_t kProgram = 0x400100;
constexpr std::uint64_t kOtherLine = 0x400200;
constexpr std::uint64_t kMalloc = 0x500010;
constexpr std::uint64_t kMmap = 0x500500;
constexpr std::uint64_t kLoader = 0x600500;

class WorldMappedTest : public testing::Test {
 protected:
  WorldMappedTest() {
    map(0x400000, "/bin/program");
    map(0x500000, "/lib/libc.so.6");
    map(0x600000, "/lib64/ld-linux-x86-64.so.2");
    malloc_.heap_function = "malloc";
    malloc_.heap_call = "malloc";
  }

  void map(std::uint64_t start, const char* path) {
    world_.map({.pid = kPid,
                .range = {start, start + 0x100000},
                .file_offset = 0,
                .module = {.kind = ModuleKind::File, .path = path}});
  }

  void apply(const EventType& type, const RawPayload& payload, std::vector<std::uint64_t> frames) {
    frames.insert(frames.begin(), kUserMarker);
    Event event{.time_ns = ++time_ns_, .pid = kPid, .tid = kPid, .type = &type};
    event.stack = frames.size() > 1 ? world_.intern_stack(kPid, frames) : StackId{};
    world_.apply(event, payload);
  }

  // A whole system call; the stack is the entry's.
  void call(SystemCall call,
            const SystemCallArguments& arguments,
            std::int64_t result,
            const std::vector<std::uint64_t>& frames) {
    apply(other_, SystemCallEntry{.call = call, .arguments = arguments}, frames);
    apply(other_, SystemCallExit{.call = call, .result = result}, {});
  }

  void mmap(std::uint64_t start, std::uint64_t pages, const std::vector<std::uint64_t>& frames) {
    call(SystemCall::Mmap,
         {0, pages * kPage, kProtectRead | kProtectWrite, kMapPrivate | kMapAnonymous},
         static_cast<std::int64_t>(start),
         frames);
  }

  std::uint64_t bytes_left() const {
    std::uint64_t bytes = 0;
    world_.mapped().for_each([&bytes](const LiveBlock& block) { bytes += block.bytes; });
    return bytes;
  }

  std::optional<World> made_{
      std::in_place, World::Options{.track_live_blocks = true, .track_heap_mappings = true}};
  World& world_ = *made_;
  EventType malloc_{.name = "memtrace_heap_1:malloc"};
  EventType other_{.name = "syscalls:any"};
  std::uint64_t time_ns_ = 0;
};

TEST_F(WorldMappedTest, a_programs_own_mapping_is_a_block_until_it_is_unmapped) {
  mmap(kArea, 10, {kMmap, kProgram});
  ASSERT_NE(world_.mapped_change(), nullptr);
  ASSERT_TRUE(world_.mapped_change()->made);
  EXPECT_EQ(world_.strings().at(world_.mapped_change()->made->function), "mmap");
  call(SystemCall::Munmap, {kArea, 4 * kPage}, 0, {});
  ASSERT_NE(world_.mapped_change(), nullptr);
  EXPECT_EQ(world_.mapped_change()->gone.at(0).block.bytes, 4 * kPage);
  EXPECT_EQ(bytes_left(), 6 * kPage);
  call(SystemCall::Munmap, {kArea, 100 * kPage}, 0, {});
  EXPECT_EQ(bytes_left(), 0U);
}

TEST_F(WorldMappedTest, what_malloc_maps_within_its_call_is_not_counted) {
  apply(malloc_, HeapCall{.bytes = 1 << 20, .stack_pointer = 1000}, {kMalloc, kProgram});
  mmap(kArea, 257, {kMmap, kMalloc + 0x40, kProgram});
  EXPECT_EQ(world_.mapped_change(), nullptr);
  EXPECT_EQ(bytes_left(), 0U);
}

TEST_F(WorldMappedTest, without_returns_the_stack_tells) {
  made_.emplace(World::Options{.track_heap_mappings = true});
  map(0x400000, "/bin/program");
  map(0x500000, "/lib/libc.so.6");
  apply(malloc_, HeapCall{.bytes = 1 << 20}, {kMalloc, kProgram});
  mmap(kArea, 257, {kMmap, kMalloc + 0x40, kProgram});
  EXPECT_EQ(world_.mapped_change(), nullptr);
  mmap(kArea + (1 << 30), 1, {kMmap, kOtherLine});
  ASSERT_NE(world_.mapped_change(), nullptr);
  EXPECT_TRUE(world_.mapped_change()->made);
}

TEST_F(WorldMappedTest, reservations_stacks_files_and_the_loaders_own_are_no_heap) {
  const auto area = static_cast<std::int64_t>(kArea);
  const std::vector<std::uint64_t> frames = {kMmap, kProgram};
  constexpr std::uint64_t kAnonymous = kMapPrivate | kMapAnonymous;
  call(SystemCall::Mmap, {0, kPage, 0, kAnonymous}, area, frames);
  call(SystemCall::Mmap, {0, kPage, kProtectWrite, kAnonymous | kMapStack}, area, frames);
  call(SystemCall::Mmap, {0, kPage, kProtectWrite, kMapPrivate}, area, frames);
  call(SystemCall::Mmap, {0, kPage, kProtectWrite, kAnonymous}, -12, frames);
  mmap(kArea, 3, {kLoader, kProgram});
  EXPECT_EQ(bytes_left(), 0U);
}

// Of an allocator whose probes came later than the call.
TEST_F(WorldMappedTest, what_a_stack_through_an_allocator_maps_is_not_counted) {
  const std::vector<std::uint64_t> in_malloc = {kMmap, kMalloc + 0x40, kProgram};
  world_.set_allocator_test([this](StackId stack) {
    return std::ranges::any_of(world_.stacks().locations(stack), [this](LocationId id) {
      return world_.stacks().location(id).offset == kMalloc + 0x40 - 0x500000;
    });
  });
  call(SystemCall::Brk, {0}, 0x900000, in_malloc);
  call(SystemCall::Brk, {0x921000}, 0x921000, in_malloc);
  mmap(kArea, 257, in_malloc);
  EXPECT_EQ(bytes_left(), 0U);
  call(SystemCall::Brk, {0x923000}, 0x923000, {kMmap, kProgram});
  EXPECT_EQ(bytes_left(), 2 * kPage);
}

TEST_F(WorldMappedTest, mremap_and_brk_move_what_is_known) {
  mmap(kArea, 10, {kMmap, kProgram});
  call(SystemCall::Mremap,
       {kArea, 10 * kPage, 30 * kPage, 1},
       static_cast<std::int64_t>(kArea * 2),
       {kMmap, kProgram});
  EXPECT_EQ(bytes_left(), 30 * kPage);
  call(SystemCall::Brk, {0}, 0x900000, {kMmap, kProgram});
  call(SystemCall::Brk, {0x905000}, 0x905000, {kMmap, kProgram});
  EXPECT_EQ(bytes_left(), 35 * kPage);
  call(SystemCall::Brk, {0x902000}, 0x902000, {kMmap, kProgram});
  EXPECT_EQ(bytes_left(), 32 * kPage);
  call(SystemCall::Mremap,
       {0x100000, kPage, 2 * kPage, 1},
       0x200000,
       {kMmap, kProgram});  // of somebody's who mapped it before
  EXPECT_EQ(bytes_left(), 32 * kPage);
}

}  // namespace
}  // namespace memtrace::world_mapped_test
