// The mappings of processes by records and system calls, as the kernel writes them.
#include "state/mapping/memory_maps.h"

#include <gtest/gtest.h>

namespace memtrace::memory_maps_test {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kPlace = 0x7f0000000000;
constexpr std::uint64_t kPrivateAnonymous = 0x22;

class MemoryMapsTest : public testing::Test {
 protected:
  MemoryMaps::Task task(std::uint32_t tid = 10) {
    return {.pid = 10, .tid = tid, .time_ns = ++now_ns_};
  }

  // A record of `count` pages.
  void announce(std::uint64_t start,
                std::uint64_t count,
                AreaKind kind = AreaKind::Anonymous,
                std::uint32_t tid = 10) {
    maps_.announce({.pid = 10,
                    .tid = tid,
                    .time_ns = ++now_ns_,
                    .range = {start, start + count * kPage},
                    .file_offset = 0,
                    .area = {.kind = kind, .protection = 3, .flags = 2}});
  }

  void begin(const SystemCallEntry& entry, std::uint32_t tid = 10) {
    maps_.begin(task(tid), entry);
  }

  void end(const SystemCallEntry& entry, std::uint64_t result, std::uint32_t tid = 10) {
    maps_.end(task(tid),
              {.call = entry.call,
               .arguments = entry.arguments,
               .result = static_cast<std::int64_t>(result)});
  }

  void call(const SystemCallEntry& entry, std::uint64_t result = 0) {
    begin(entry);
    end(entry, result);
  }

  static SystemCallEntry mmap(std::uint64_t count) {
    return {.call = SystemCall::Mmap, .arguments = {0, count * kPage, 3, kPrivateAnonymous}};
  }

  static SystemCallEntry munmap(std::uint64_t start, std::uint64_t count) {
    return {.call = SystemCall::Munmap, .arguments = {start, count * kPage}};
  }

  static SystemCallEntry brk(std::uint64_t top) {
    return {.call = SystemCall::Brk, .arguments = {top}};
  }

  bool mapped(std::uint64_t page, std::uint32_t pid = 10) {
    return maps_.find(pid, kPlace + page * kPage) != nullptr;
  }

  MemoryMaps maps_{kPage};
  std::uint64_t now_ns_ = 0;
};

TEST_F(MemoryMapsTest, a_record_of_a_file_gives_each_address_its_offset) {
  maps_.announce({.pid = 10,
                  .tid = 10,
                  .range = {kPlace, kPlace + 4 * kPage},
                  .file_offset = 2 * kPage,
                  .area = {.kind = AreaKind::File, .inode = 5, .protection = 5, .flags = 2}});
  EXPECT_FALSE(maps_.has_data());
  call(munmap(kPlace, 1));
  const auto* entry = maps_.find(10, kPlace + 3 * kPage);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(kPlace + 3 * kPage + entry->value.offset_minus_avma, 5 * kPage);
  EXPECT_FALSE(mapped(0));
}

TEST_F(MemoryMapsTest, a_call_that_failed_changes_nothing) {
  announce(kPlace, 4);
  EXPECT_TRUE(maps_.has_data());
  call(munmap(kPlace, 4), static_cast<std::uint64_t>(-22));
  EXPECT_TRUE(mapped(0));
}

TEST_F(MemoryMapsTest, lengths_are_whole_pages) {
  announce(kPlace, 4);
  call({.call = SystemCall::Munmap, .arguments = {kPlace, kPage + 1}});
  EXPECT_FALSE(mapped(1));
  EXPECT_TRUE(mapped(2));
}

TEST_F(MemoryMapsTest, mremap_grows_shrinks_and_moves) {
  announce(kPlace, 4);
  const auto mremap = [](std::uint64_t old_count, std::uint64_t new_count, std::uint64_t flags) {
    return SystemCallEntry{.call = SystemCall::Mremap,
                           .arguments = {kPlace, old_count * kPage, new_count * kPage, flags}};
  };
  call(mremap(4, 8, 1), kPlace);
  EXPECT_TRUE(mapped(7));
  call(mremap(8, 2, 1), kPlace);
  EXPECT_TRUE(mapped(1));
  EXPECT_FALSE(mapped(2));
  call(mremap(2, 2, 5), kPlace + 20 * kPage);  // MREMAP_DONTUNMAP
  EXPECT_TRUE(mapped(0));
  EXPECT_TRUE(mapped(21));
  call(mremap(2, 3, 1), kPlace + 40 * kPage);
  EXPECT_FALSE(mapped(0));
  EXPECT_TRUE(mapped(42));
}

TEST_F(MemoryMapsTest, an_old_size_of_nothing_maps_shared_pages_again) {
  announce(kPlace, 4, AreaKind::SharedMemory);
  call({.call = SystemCall::Mremap, .arguments = {kPlace, 0, 4 * kPage, 1}}, kPlace + 10 * kPage);
  EXPECT_TRUE(mapped(0));
  EXPECT_TRUE(mapped(13));
}

TEST_F(MemoryMapsTest, the_heap_grows_by_records_and_shrinks_by_brk) {
  call(brk(0), kPlace);
  begin(brk(kPlace + 8 * kPage));
  announce(kPlace, 8, AreaKind::Heap);
  end(brk(kPlace + 8 * kPage), kPlace + 8 * kPage);
  EXPECT_TRUE(mapped(7));
  call(brk(kPlace + 2 * kPage), kPlace + 2 * kPage);
  EXPECT_TRUE(mapped(1));
  EXPECT_FALSE(mapped(2));
  call(brk(0), kPlace + 2 * kPage);
  EXPECT_TRUE(mapped(1));
}

TEST_F(MemoryMapsTest, what_brk_maps_is_the_heap_whatever_the_kernel_calls_it) {
  begin(brk(kPlace + 8 * kPage));
  announce(kPlace, 8, AreaKind::Anonymous);
  end(brk(kPlace + 8 * kPage), kPlace + 8 * kPage);
  EXPECT_EQ(maps_.find(10, kPlace)->value.kind, AreaKind::Heap);
  call(brk(kPlace + 2 * kPage), kPlace + 2 * kPage);
  EXPECT_FALSE(mapped(2));
}

TEST_F(MemoryMapsTest, a_thread_that_maps_what_another_unmaps_keeps_it) {
  announce(kPlace, 4);
  begin(munmap(kPlace, 4), 11);
  begin(mmap(4), 12);
  announce(kPlace, 4, AreaKind::Anonymous, 12);
  end(mmap(4), kPlace, 12);
  end(munmap(kPlace, 4), 0, 11);
  EXPECT_TRUE(mapped(0));
  EXPECT_TRUE(mapped(3));
}

TEST_F(MemoryMapsTest, so_does_one_whose_call_ends_after_the_others) {
  announce(kPlace, 4);
  begin(munmap(kPlace, 4), 11);
  begin(mmap(4), 12);
  announce(kPlace - 4 * kPage, 8, AreaKind::Anonymous, 12);  // merged with what lies before
  end(munmap(kPlace, 4), 0, 11);
  end(mmap(4), kPlace, 12);
  EXPECT_TRUE(mapped(0));
  EXPECT_TRUE(mapped(3));
}

TEST_F(MemoryMapsTest, a_neighbour_that_is_mapped_does_not_keep_what_is_unmapped) {
  announce(kPlace, 4);
  begin(munmap(kPlace, 4), 11);
  begin(mmap(4), 12);
  announce(kPlace, 8, AreaKind::Anonymous, 12);  // the kernel has not unmapped yet
  end(mmap(4), kPlace + 4 * kPage, 12);
  end(munmap(kPlace, 4), 0, 11);
  EXPECT_FALSE(mapped(0));
  EXPECT_TRUE(mapped(4));
}

TEST_F(MemoryMapsTest, without_records_the_arguments_tell) {
  begin(mmap(2));
  end(mmap(2), kPlace);
  const auto* entry = maps_.find(10, kPlace);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->value.kind, AreaKind::Anonymous);
  EXPECT_EQ(entry->value.protection, 3U);
  call({.call = SystemCall::Mprotect, .arguments = {kPlace, kPage, 1}});
  EXPECT_EQ(maps_.find(10, kPlace)->value.protection, 1U);
  EXPECT_EQ(maps_.find(10, kPlace + kPage)->value.protection, 3U);
}

TEST_F(MemoryMapsTest, a_child_has_its_parents_mappings_until_one_of_them_changes) {
  announce(kPlace, 4);
  maps_.fork(10, 20);
  EXPECT_EQ(maps_.of(20), maps_.of(10));
  call(munmap(kPlace, 1));
  EXPECT_FALSE(mapped(0, 10));
  EXPECT_TRUE(mapped(0, 20));
  maps_.exec(20);
  EXPECT_FALSE(mapped(0, 20));
  EXPECT_TRUE(mapped(3, 10));
}

TEST_F(MemoryMapsTest, an_ended_process_keeps_its_mappings_for_a_while) {
  announce(kPlace, 4);
  maps_.exit(10, 10);
  EXPECT_TRUE(mapped(0));
  for (std::uint32_t pid = 100; pid < 700; ++pid) {
    maps_.fork(pid - 1, pid);
    maps_.exit(pid, pid);
  }
  EXPECT_FALSE(mapped(0));
}

TEST_F(MemoryMapsTest, a_process_whose_first_thread_has_ended_lives_on) {
  announce(kPlace, 4);
  maps_.exit(10, 10);
  announce(kPlace + 8 * kPage, 1, AreaKind::Anonymous, 11);
  for (std::uint32_t pid = 100; pid < 700; ++pid) {
    maps_.fork(pid - 1, pid);
    maps_.exit(pid, pid);
  }
  EXPECT_TRUE(mapped(0));
}

// The same place is asked for again and again, with a change of every kind in between.
TEST_F(MemoryMapsTest, what_was_found_last_is_forgotten_when_it_changes) {
  const auto found = [this](std::uint64_t avma, std::uint32_t pid = 10) {
    return maps_.find(pid, avma) != nullptr;
  };
  announce(kPlace, 4);
  ASSERT_TRUE(found(kPlace));
  call(munmap(kPlace, 4));
  EXPECT_FALSE(found(kPlace));
  announce(kPlace, 4, AreaKind::File);
  EXPECT_EQ(maps_.find(10, kPlace)->value.kind, AreaKind::File);
  announce(kPlace, 4);
  EXPECT_EQ(maps_.find(10, kPlace)->value.kind, AreaKind::Anonymous);
  maps_.fork(10, 11);
  EXPECT_TRUE(found(kPlace, 11));
  EXPECT_FALSE(found(kPlace, 12));
  maps_.exec(11);
  EXPECT_FALSE(found(kPlace, 11));
  EXPECT_TRUE(found(kPlace + 4 * kPage - 1));
  EXPECT_FALSE(found(kPlace + 4 * kPage));
}

}  // namespace
}  // namespace memtrace::memory_maps_test
