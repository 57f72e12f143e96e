// press_memory HOW: drives the kernel's means against lack of memory. To be run in a small memory
// cgroup, so that the rest of the machine is left alone:
//   anon N          touches N fresh pages, then all of them once more: reclaim to swap, or a kill
//   file PATH N     writes N pages to a file: reclaim of the page cache
//   names N         asks for N files that are not there: dentries, which shrinkers take back
// and without one:
//   collapse N      makes N huge pages of small ones by madvise(MADV_COLLAPSE), from Linux 6.1 on
//   hold N          keeps N pages until it is killed
//   holes N         keeps every second of N pages until it is killed: no large blocks are free
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "tests/live/puppets/puppet.h"

namespace {

constexpr int kCollapse = 25;  // MADV_COLLAPSE, newer than some headers
constexpr std::size_t kHugeBytes = std::size_t{2} << 20U;

long page_bytes() {
  return sysconf(_SC_PAGESIZE);
}

char* map(std::size_t bytes) {
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    give_up("mmap", errno);
  }
  return static_cast<char*>(pages);
}

void touch(volatile char* pages, long count, char value) {
  for (long page = 0; page < count; ++page) {
    pages[page * page_bytes()] = value;
  }
}

int press_anon(long count) {
  char* const pages = map(static_cast<std::size_t>(count * page_bytes()));
  (void)madvise(pages, static_cast<std::size_t>(count * page_bytes()), MADV_NOHUGEPAGE);
  touch(pages, count, 1);
  touch(pages, count, 2);
  return 0;
}

int press_file(const char* path, long count) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) {
    give_up(path, errno);
  }
  const std::string page(static_cast<std::size_t>(page_bytes()), 'x');
  for (long i = 0; i < count; ++i) {
    if (write(file, page.data(), page.size()) != static_cast<ssize_t>(page.size())) {
      give_up("write", errno);
    }
  }
  return close(file);
}

int press_names(long count) {
  struct stat unused {};

  for (long i = 0; i < count; ++i) {
    (void)stat(("memtrace-no-such-file-" + std::to_string(i)).c_str(), &unused);
  }
  return 0;
}

// One more than asked for, so that the first can begin at a multiple of its size. Huge pages are
// forbidden during this and not asked for: neither a fault nor khugepaged makes one first.
int collapse(long count) {
  (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  const std::size_t bytes = (static_cast<std::size_t>(count) + 1) * kHugeBytes;
  char* const pages = map(bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(pages);
  char* const first = pages + ((kHugeBytes - address % kHugeBytes) % kHugeBytes);
  touch(first, count * static_cast<long>(kHugeBytes) / page_bytes(), 1);
  (void)prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
  for (long i = 0; i < count; ++i) {
    char* const place = first + static_cast<std::size_t>(i) * kHugeBytes;
    if (madvise(place, kHugeBytes, kCollapse) != 0) {
      give_up("madvise(MADV_COLLAPSE)", errno);
    }
  }
  return 0;
}

// With holes, every second page stays: what is free lies between them.
int hold(long count, bool holes) {
  char* const pages = map(static_cast<std::size_t>(count * page_bytes()));
  (void)madvise(pages, static_cast<std::size_t>(count * page_bytes()), MADV_NOHUGEPAGE);
  touch(pages, count, 1);
  for (long i = 0; holes && i < count; i += 2) {
    (void)madvise(pages + i * page_bytes(), static_cast<std::size_t>(page_bytes()), MADV_DONTNEED);
  }
  std::puts("ready");
  std::fflush(stdout);
  pause();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "anon") {
    return press_anon(count_argument(argc, argv, 2));
  }
  if (how == "file" && argc > 2) {
    return press_file(argv[2], count_argument(argc, argv, 3));
  }
  if (how == "names") {
    return press_names(count_argument(argc, argv, 2));
  }
  if (how == "collapse") {
    return collapse(count_argument(argc, argv, 2));
  }
  if (how == "hold" || how == "holes") {
    return hold(count_argument(argc, argv, 2), how == "holes");
  }
  std::fprintf(stderr, "usage: %s anon|file PATH|names|collapse|hold|holes COUNT\n", argv[0]);
  return 2;
}
