#include "state/mapping/anonymous_memory.h"

#include <gtest/gtest.h>

#include "state/mapping/map_flags.h"

namespace memtrace::anonymous_memory_test {
namespace {

constexpr std::uint64_t kPlace = 0x7f0000000000;
constexpr std::uint64_t kMega = 1U << 20U;
constexpr std::uint64_t kAnonymous = kMapPrivate | kMapAnonymous;
constexpr std::uint64_t kReadWrite = kProtectRead | kProtectWrite;

class KernelMemoryTest : public testing::Test {
 protected:
  void map(std::uint64_t bytes, std::uint64_t protection, std::uint64_t flags = kAnonymous) {
    const MapCall call{.op = MapOp::Map, .bytes = bytes, .protection = protection, .flags = flags};
    memory_.apply(7, {.call = call, .result = kPlace});
  }

  void apply(const MapCall& call, std::uint64_t result = 0) {
    memory_.apply(7, {.call = call, .result = result});
  }

  std::int64_t bytes() { return memory_.taken().at(7).bytes(); }

  KernelMemory memory_;
};

TEST_F(KernelMemoryTest, mapped_memory_counts_until_it_is_unmapped) {
  map(kMega, kReadWrite);
  EXPECT_EQ(bytes(), 1 << 20);
  apply({.op = MapOp::Unmap, .address = kPlace, .bytes = kMega / 2});
  EXPECT_EQ(bytes(), 1 << 19);
  apply({.op = MapOp::Unmap, .address = kPlace - kMega, .bytes = 4 * kMega});
  EXPECT_EQ(bytes(), 0);
}

TEST_F(KernelMemoryTest, reserved_memory_counts_as_far_as_it_is_made_usable) {
  map(64 * kMega, 0);
  EXPECT_EQ(bytes(), 0);
  apply({.op = MapOp::Protect, .address = kPlace, .bytes = 4096, .protection = kReadWrite});
  apply({.op = MapOp::Protect, .address = kPlace, .bytes = 8192, .protection = kReadWrite});
  EXPECT_EQ(bytes(), 8192);
  apply({.op = MapOp::Protect, .address = kPlace, .bytes = 8192, .protection = kProtectRead});
  EXPECT_EQ(bytes(), 8192);
}

TEST_F(KernelMemoryTest, files_shared_memory_and_stacks_do_not_count) {
  map(kMega, kReadWrite, kMapPrivate);
  EXPECT_EQ(bytes(), 0);
  map(kMega, kReadWrite, kMapAnonymous | 1);
  EXPECT_EQ(bytes(), 0);
  map(kMega, 0, kAnonymous | kMapStack);
  apply({.op = MapOp::Protect, .address = kPlace, .bytes = kMega, .protection = kReadWrite});
  EXPECT_EQ(bytes(), 0);
}

TEST_F(KernelMemoryTest, mremap_moves_and_resizes) {
  map(kMega, kReadWrite);
  const MapCall call{.op = MapOp::Remap, .address = kPlace, .bytes = kMega, .new_bytes = 3 * kMega};
  apply(call, kPlace + 64 * kMega);
  EXPECT_EQ(bytes(), 3 << 20);
  apply({.op = MapOp::Unmap, .address = kPlace + 64 * kMega, .bytes = 3 * kMega});
  EXPECT_EQ(bytes(), 0);
}

TEST_F(KernelMemoryTest, a_length_is_of_whole_pages) {
  map(1, kReadWrite);
  EXPECT_EQ(bytes(), 4096);
}

TEST_F(KernelMemoryTest, brk_counts_from_where_it_was_first_seen_and_may_fall_below) {
  apply({.op = MapOp::Break}, 0x1000000);
  EXPECT_EQ(bytes(), 0);
  apply({.op = MapOp::Break, .address = 0x1005000}, 0x1005000);
  EXPECT_EQ(bytes(), 0x5000);
  apply({.op = MapOp::Break, .address = 0xfff000}, 0xfff000);
  EXPECT_EQ(bytes(), -0x1000);
}

TEST_F(KernelMemoryTest, unmapping_what_was_there_before_is_not_negative) {
  apply({.op = MapOp::Unmap, .address = kPlace, .bytes = kMega});
  EXPECT_EQ(bytes(), 0);
}

}  // namespace
}  // namespace memtrace::anonymous_memory_test
