#include "state/heap/heap_entries.h"

#include <gtest/gtest.h>

#include <vector>

namespace memtrace::heap_entries_test {
namespace {

constexpr std::uint32_t kTid = 7;
constexpr StringId kMalloc{1};
constexpr StringId kCalloc{2};
constexpr StringId kRealloc{3};

HeapCall alloc(std::uint64_t bytes, std::uint32_t stack_pointer, bool has_inner = false) {
  return {.bytes = bytes, .stack_pointer = stack_pointer, .has_inner = has_inner};
}

HeapCall resize(std::uint64_t address, std::uint64_t bytes, std::uint32_t stack_pointer) {
  return {.op = HeapOp::Realloc,
          .address = address,
          .bytes = bytes,
          .stack_pointer = stack_pointer,
          .has_inner = true};
}

TEST(HeapEntries, a_call_that_begins_again_is_one_call) {
  HeapEntries entries;
  EXPECT_FALSE(entries.goes_on(kTid, kMalloc, alloc(50, 0x100), {}, {}));
  entries.expect_again(kTid, kMalloc, 50);
  EXPECT_TRUE(entries.goes_on(kTid, kMalloc, alloc(50, 0x100), {}, {}));
  EXPECT_FALSE(entries.goes_on(kTid, kMalloc, alloc(50, 0x100), {}, {}));  // the program's next
}

TEST(HeapEntries, what_begins_again_is_that_thread_and_function_and_size) {
  HeapEntries entries;
  entries.expect_again(kTid, kMalloc, 50);
  EXPECT_FALSE(entries.goes_on(kTid + 1, kMalloc, alloc(50, 0x100), {}, {}));
  EXPECT_FALSE(entries.goes_on(kTid, kCalloc, alloc(50, 0x100), {}, {}));
  // It was the next entry or none.
  EXPECT_FALSE(entries.goes_on(kTid, kMalloc, alloc(50, 0x100), {}, {}));
  entries.expect_again(kTid, kMalloc, 50);
  EXPECT_FALSE(entries.goes_on(kTid, kMalloc, alloc(51, 0x100), {}, {}));
}

TEST(HeapEntries, the_work_of_calloc_and_of_realloc_of_nothing_is_no_call) {
  HeapEntries entries;
  EXPECT_FALSE(entries.goes_on(kTid, kCalloc, alloc(50, 0x100, true), {}, {}));
  EXPECT_TRUE(entries.goes_on(kTid, kMalloc, alloc(50, 0xe8), {}, {}));
  EXPECT_FALSE(entries.goes_on(kTid, kRealloc, resize(0, 60, 0x100), {}, {}));
  EXPECT_TRUE(entries.goes_on(kTid, kMalloc, alloc(60, 0x100), {}, {}));
  EXPECT_FALSE(entries.goes_on(kTid, kMalloc, alloc(60, 0x100), {}, {}));
}

TEST(HeapEntries, a_call_of_the_program_after_one_that_has_ended_is_its_own) {
  HeapEntries entries;
  EXPECT_FALSE(entries.goes_on(kTid, kRealloc, resize(0x5000, 60, 0x100), {}, {}));
  EXPECT_FALSE(entries.goes_on(kTid, kMalloc, alloc(60, 0x100), {}, {}));
  EXPECT_FALSE(entries.goes_on(kTid, kCalloc, alloc(50, 0x100, true), {}, {}));
  entries.end_call(kTid);
  EXPECT_FALSE(entries.goes_on(kTid, kMalloc, alloc(50, 0xe8), {}, {}));
  EXPECT_FALSE(entries.goes_on(kTid, kCalloc, alloc(50, 0x10000, true), {}, {}));
  EXPECT_FALSE(entries.goes_on(kTid, kMalloc, alloc(50, 0xe8), {}, {}));  // another stack, far away
  EXPECT_FALSE(entries.goes_on(kTid, kCalloc, alloc(50, 0x100), {}, {}));  // does its work itself
  EXPECT_FALSE(entries.goes_on(kTid, kMalloc, alloc(50, 0xe8), {}, {}));
}

TEST(HeapEntries, one_call_that_returns_twice_is_one_where_returns_alone_are_probed) {
  HeapEntries entries;
  EXPECT_FALSE(entries.is_inner_return(kTid, kMalloc));
  entries.expect_again(kTid, kMalloc, 50);
  EXPECT_TRUE(entries.is_inner_return(kTid, kMalloc));
  EXPECT_FALSE(entries.is_inner_return(kTid, kMalloc));
  EXPECT_FALSE(entries.goes_on(kTid, kRealloc, resize(0, 60, 0x100), {}, {}));
  EXPECT_TRUE(entries.is_inner_return(kTid, kMalloc));
  EXPECT_FALSE(entries.is_inner_return(kTid, kMalloc));
}

// glibc's memalign goes on in malloc for small alignments alone.
TEST(HeapEntries, next_call_of_the_program_is_none_that_goes_on) {
  constexpr StringId kMemalign{4};
  static constexpr ModuleId kLibc{1};
  static constexpr ModuleId kProgram{2};
  StackTable stacks;
  const auto stack = [&stacks](std::uint64_t place, std::uint64_t return_address) {
    return stacks.intern(std::vector{stacks.intern({kLibc, false, place}),
                                     stacks.intern({kProgram, true, return_address})});
  };
  HeapEntries entries;
  const StackId aligned = stack(0x9000, 0x100);
  EXPECT_FALSE(entries.goes_on(kTid, kMemalign, alloc(64, 0x100, true), aligned, stacks));
  EXPECT_FALSE(entries.goes_on(kTid, kMemalign, alloc(64, 0x100, true), aligned, stacks));
  EXPECT_FALSE(entries.goes_on(kTid, kMalloc, alloc(64, 0x100), stack(0x8000, 0x200), stacks));
  EXPECT_FALSE(entries.goes_on(kTid, kMemalign, alloc(64, 0x100, true), aligned, stacks));
  EXPECT_TRUE(entries.goes_on(kTid, kMalloc, alloc(64, 0x100), stack(0x8000, 0x100), stacks));
}

}  // namespace
}  // namespace memtrace::heap_entries_test
