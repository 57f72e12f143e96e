#include "views/path/heap_owners.h"

#include <gtest/gtest.h>

namespace memtrace::heap_owners_test {
namespace {

constexpr std::uint32_t kPid = 100;

class Heap {
 public:
  void allocate(std::uint64_t address, std::uint64_t bytes, std::uint32_t stack) {
    play({.address = address, .bytes = bytes}, stack);
  }

  void reallocate(std::uint64_t old, std::uint64_t address, std::uint64_t bytes) {
    Event event = of_process();
    event.payload = HeapCall{.op = HeapOp::Realloc, .address = old, .bytes = bytes};
    owners_.on(event);
    play({.address = address, .bytes = bytes, .is_realloc = true}, 9);
  }

  void free(std::uint64_t address) {
    Event event = of_process();
    event.payload = HeapCall{.op = HeapOp::Free, .address = address};
    owners_.on(event);
  }

  void exec() { life_ = LifeId{life_.value + 1}; }

  // The number of the stack; 0 if nobody owns it.
  std::uint32_t owner(std::uint64_t address, std::uint32_t pid = kPid) const {
    const StackId stack = owners_.owner_of(pid, address);
    return stack.valid() ? stack.value : 0;
  }

 private:
  Event of_process() const {
    Event event;
    event.pid = event.tid = kPid;
    event.life = life_;
    return event;
  }

  void play(const HeapAlloc& alloc, std::uint32_t stack) {
    Event event = of_process();
    event.payload = alloc;
    event.stack = StackId{stack};
    owners_.on(event);
  }

  HeapOwners owners_;
  LifeId life_{1};
};

TEST(HeapOwners, a_block_owns_its_first_byte_and_its_last) {
  Heap heap;
  heap.allocate(0x1000, 0x100, 3);
  heap.allocate(0x2000, 0x100, 4);
  EXPECT_EQ(heap.owner(0xfff), 0U);
  EXPECT_EQ(heap.owner(0x1000), 3U);
  EXPECT_EQ(heap.owner(0x10ff), 3U);
  EXPECT_EQ(heap.owner(0x1100), 0U);
  EXPECT_EQ(heap.owner(0x2001), 4U);
  EXPECT_EQ(heap.owner(0x1000, kPid + 1), 0U);
}

TEST(HeapOwners, what_was_freed_owns_nothing) {
  Heap heap;
  heap.allocate(0x1000, 0x100, 3);
  heap.free(0x1000);
  EXPECT_EQ(heap.owner(0x1000), 0U);
}

TEST(HeapOwners, a_block_that_realloc_moved_is_at_its_new_place) {
  Heap heap;
  heap.allocate(0x1000, 0x100, 3);
  heap.reallocate(0x1000, 0x5000, 0x200);
  EXPECT_EQ(heap.owner(0x1000), 0U);
  EXPECT_EQ(heap.owner(0x51ff), 9U);
  heap.allocate(0x7000, 0, 0);  // a failed call has no block
  heap.reallocate(0x5000, 0x5000, 0x80);
  EXPECT_EQ(heap.owner(0x507f), 9U);
  EXPECT_EQ(heap.owner(0x5080), 0U);
}

TEST(HeapOwners, a_new_program_has_none_of_the_old_ones_blocks) {
  Heap heap;
  heap.allocate(0x1000, 0x100, 3);
  heap.exec();
  heap.allocate(0x2000, 0x100, 4);
  EXPECT_EQ(heap.owner(0x1000), 0U);
  EXPECT_EQ(heap.owner(0x2000), 4U);
}

}  // namespace
}  // namespace memtrace::heap_owners_test
