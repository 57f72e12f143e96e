// steady_faults RATE SECONDS [DEPTH]: touches RATE fresh pages a second, in a hundred bursts, by
// 2^DEPTH stacks in turn. A page that was touched goes back with the next burst's munmap(2).
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "many_ways.h"

namespace {

constexpr std::size_t kBurstsASecond = 100;
constexpr long kNanoseconds = 1'000'000'000;

// What is left until then; none when it is over.
void sleep_until(timespec& next) {
  next.tv_nsec += kNanoseconds / static_cast<long>(kBurstsASecond);
  if (next.tv_nsec >= kNanoseconds) {
    next.tv_nsec -= kNanoseconds;
    ++next.tv_sec;
  }
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rate = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5000;
  const std::time_t lasts = argc > 2 ? std::atoi(argv[2]) : 20;
  const unsigned long depth = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 8;
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t pages = rate / kBurstsASecond;
  const std::size_t size_bytes = pages * page_bytes;
  unsigned long way = 0;
  timespec next{};
  ::clock_gettime(CLOCK_MONOTONIC, &next);
  for (const std::time_t end = next.tv_sec + lasts; next.tv_sec < end; sleep_until(next)) {
    void* const memory =
        ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      std::perror("steady_faults: mmap");
      return 1;
    }
    // A huge page would be one fault for 512 pages.
    (void)::madvise(memory, size_bytes, MADV_NOHUGEPAGE);
    for (std::size_t page = 0; page < pages; ++page) {
      volatile char* const place = static_cast<char*>(memory) + page * page_bytes;
      many_ways::go(way++, depth, [place] {
        *place = 1;
        return 0;
      });
    }
    ::munmap(memory, size_bytes);
  }
  return 0;
}
