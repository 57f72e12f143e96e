// touch_pages N: writes once to each of N pages that were never touched, in touch_fresh_pages().
//
// Each write is one user page fault, at one instruction of that function: do_user_addr_fault ->
// handle_mm_fault -> do_anonymous_page (mm/memory.c), error_code 6 (user, write, not present),
// minor, and one order-0 mm_page_alloc under it. Checked on 6.18 and perf 6.1:
//   perf record -g -e exceptions:page_fault_user -- touch_pages 1000
// has 1000 samples whose innermost user frame is touch_fresh_pages; `perf stat -e page-faults`
// counts those and the same number of start-up faults for every N (PRINT_STARTUP).
#include <sys/mman.h>
#include <unistd.h>

#include "tests/live/puppets/puppet.h"

[[gnu::noinline, gnu::aligned(64)]] void touch_fresh_pages(volatile char* pages,
                                                           long count,
                                                           long page_bytes) {
  for (long page = 0; page < count; ++page) {
    pages[page * page_bytes] = 1;
  }
}

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 1);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  // One page more than asked for, so that N may be 0.
  const auto length_bytes = static_cast<std::size_t>((count + 1) * page_bytes);
  void* const pages =
      mmap(nullptr, length_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    give_up("mmap", errno);
  }
  // A huge page would be one fault for 512 pages.
  if (madvise(pages, length_bytes, MADV_NOHUGEPAGE) != 0 && errno != EINVAL) {
    give_up("madvise", errno);
  }
  // The page of code must not be what faults in touch_fresh_pages: it is mapped by reading it here.
  (void)*reinterpret_cast<const volatile char*>(&touch_fresh_pages);
  touch_fresh_pages(static_cast<volatile char*>(pages), count, page_bytes);
  std::printf("pid %d touched %ld pages\n", static_cast<int>(getpid()), count);
  return 0;
}
