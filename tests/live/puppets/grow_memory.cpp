// grow_memory: touches a known number of pages in functions of known names, gives some of them
// back, says "ready", and waits. For each line on standard input it does one step more.
//
//   touch_unmapped   1000 pages, then munmap(2) of 500:               500 stay
//   touch_discarded   700 pages, then MADV_DONTNEED of 200:           500 stay
//   touch_allocated   300 pages of a block of malloc(3):              300 stay
//   touch_huge        a byte of an aligned area with MADV_HUGEPAGE:   512 stay, if the kernel has
//   one read_zeros        100 pages that are only read:                   none is resident
//   touch_more        200 pages, at the first line
//
// mm/memory.c, do_anonymous_page, makes each page resident that is written, and maps the page of
// zeros, which does not count, for those that are read. Checked on 6.18: /proc/PID/smaps says so.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "tests/live/puppets/puppet.h"

namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::uintptr_t kHugePage = 512 * kPage;

char* map_pages(std::size_t pages) {
  void* const start =
      mmap(nullptr, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) {
    give_up("mmap", errno);
  }
  return static_cast<char*>(start);
}

// Mappings without a huge page, so that each page faults.
char* map_small_pages(std::size_t pages) {
  char* const start = map_pages(pages);
  (void)madvise(start, pages * kPage, MADV_NOHUGEPAGE);
  return start;
}

char* aligned(char* start, std::uintptr_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  return start + ((address + bytes - 1) / bytes * bytes - address);
}

}  // namespace

[[gnu::noinline]] void touch_unmapped(volatile char* start, std::size_t pages) {
  for (std::size_t i = 0; i < pages; ++i) {
    start[i * kPage] = 1;
  }
}

[[gnu::noinline]] void touch_discarded(volatile char* start, std::size_t pages) {
  for (std::size_t i = 0; i < pages; ++i) {
    start[i * kPage] = 2;
  }
}

[[gnu::noinline]] void touch_allocated(volatile char* start, std::size_t pages) {
  for (std::size_t i = 0; i < pages; ++i) {
    start[i * kPage] = 3;
  }
}

[[gnu::noinline]] void touch_huge(volatile char* start) {
  start[kPage * 5] = 4;
}

[[gnu::noinline]] char read_zeros(const volatile char* start, std::size_t pages) {
  char sum = 0;
  for (std::size_t i = 0; i < pages; ++i) {
    sum = static_cast<char>(sum + start[i * kPage]);
  }
  return sum;
}

[[gnu::noinline]] void touch_more(volatile char* start, std::size_t pages) {
  for (std::size_t i = 0; i < pages; ++i) {
    start[i * kPage] = 5;
  }
}

int main() {
  char* const unmapped = map_small_pages(1000);
  touch_unmapped(unmapped, 1000);
  char* const discarded = map_small_pages(700);
  touch_discarded(discarded, 700);
  munmap(unmapped, 500 * kPage);
  madvise(discarded + 100 * kPage, 200 * kPage, MADV_DONTNEED);
  // Neither its first page nor its last, which an allocator may have touched.
  char* const block = static_cast<char*>(malloc(303 * kPage));
  if (block == nullptr) {
    give_up("malloc", errno);
  }
  (void)madvise(aligned(block, kPage), 302 * kPage, MADV_NOHUGEPAGE);
  touch_allocated(aligned(block, kPage) + kPage, 300);
  char* const huge = aligned(map_pages(4 * 512), kHugePage);
  (void)madvise(huge, kHugePage, MADV_HUGEPAGE);
  touch_huge(huge);
  (void)read_zeros(map_small_pages(100), 100);
  char* const more = map_small_pages(200);
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) {
    give_up("write", errno);
  }
  char line = 0;
  if (read(STDIN_FILENO, &line, 1) == 1) {
    touch_more(more, 200);
    (void)write(STDOUT_FILENO, "more\n", 5);
  }
  pause();
  return 0;
}
