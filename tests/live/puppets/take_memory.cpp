// take_memory HOW NAME MILLISECONDS ...: takes memory at a known rate, under a name of its own:
//   file NAME MILLISECONDS RATE PATH    reads RATE pages of a file without data each millisecond,
//                                       as far as the kernel lets it
//   write NAME MILLISECONDS RATE PATH   writes them
//   anon NAME MILLISECONDS COUNT PAUSE  touches COUNT pages again and again, with PAUSE
//                                       milliseconds in between
// At the end it prints its name, how many pages it read or touched, and its major faults.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/live/puppets/puppet.h"

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr long kPageBytes = 4096;

// ssize_t access(file, buffer, bytes, at): pread(2) or pwrite(2).
template <typename Access>
long access_file(const char* path, long rate, Clock::time_point end, Access access) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  constexpr off_t kFileBytes = off_t{16} << 30U;
  if (file < 0 || ftruncate(file, kFileBytes) != 0) {
    give_up(path, errno);
  }
  std::string buffer(static_cast<std::size_t>(rate * kPageBytes), '\0');
  long pages = 0;
  Clock::time_point next = Clock::now();
  while (Clock::now() < end) {
    const off_t at = pages * kPageBytes % (kFileBytes / 2);
    if (access(file, buffer.data(), buffer.size(), at) < 0) {
      give_up(path, errno);
    }
    pages += rate;
    next += milliseconds(1);
    std::this_thread::sleep_until(next);
    next = std::max(next, Clock::now() - milliseconds(1));
  }
  close(file);
  unlink(path);
  return pages;
}

long touch_pages(long count, milliseconds pause, Clock::time_point end) {
  const auto bytes = static_cast<std::size_t>(count * kPageBytes);
  void* const place =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) {
    give_up("mmap", errno);
  }
  (void)madvise(place, bytes, MADV_NOHUGEPAGE);
  auto* const pages = static_cast<volatile char*>(place);
  long touched = 0;
  while (Clock::now() < end) {
    for (long page = 0; page < count && Clock::now() < end; ++page, ++touched) {
      pages[page * kPageBytes] = static_cast<char>(touched);
    }
    std::this_thread::sleep_for(pause);
  }
  return touched;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 2 ? argv[1] : "";
  if (argc < 6 || (how != "file" && how != "write" && how != "anon")) {
    std::fprintf(
        stderr, "usage: %s file|write|anon NAME MILLISECONDS RATE|COUNT PATH|PAUSE\n", argv[0]);
    return 2;
  }
  (void)prctl(PR_SET_NAME, argv[2], 0, 0, 0);
  const auto end = Clock::now() + milliseconds(count_argument(argc, argv, 3));
  const long count = count_argument(argc, argv, 4);
  const long pages = how == "file" ? access_file(argv[5], count, end, pread)
                     : how == "write"
                         ? access_file(argv[5], count, end, pwrite)
                         : touch_pages(count, milliseconds(count_argument(argc, argv, 5)), end);
  rusage usage{};
  (void)getrusage(RUSAGE_SELF, &usage);
  std::printf("%s %ld %ld\n", argv[2], pages, usage.ru_majflt);
  return 0;
}
