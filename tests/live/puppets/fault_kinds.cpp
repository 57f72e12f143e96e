// fault_kinds KIND N [FILE]: N page faults of one kind, all in touch_each_page() (or, for those
// that write, in write_each_page()), and nothing else of that kind there.
//
//   copy       N pages are written, then a child that shares them writes each: copy-on-write
//   file       N pages of FILE, which is dropped from the page cache before, are read: major
//   cached     N pages of FILE, which is in the page cache, are written through a shared mapping:
//              minor; for a read the kernel would map the pages around it, too (fault-around)
//   private    N pages of FILE, which is in the page cache, are written through a private mapping
//   shared     N pages of shared memory without a file are written
//   hugetlb    N pages of 2 MiB, N of them are in the pool
//   populate   the same, which the kernel makes resident itself (MAP_POPULATE): no faults are left
//   thp        N pages of 2 MiB with MADV_HUGEPAGE
//   folios     N pages are written; the kernel may give several at once
//   zero       N pages are read, and so are the page of zeros, then written
//   zero-thp   the same with pages of 2 MiB and MADV_HUGEPAGE
//   forbidden  N pages without any right are read, SIGSEGV is caught: faults that fail
//   beyond     N pages of a mapping of FILE, which is made empty, are read, SIGBUS is caught
//   swap       N pages are written, paged out with MADV_PAGEOUT, and read again: to be run where
//              there is less memory than 16 MiB
//   pressure   N pages are written, and read again: to be run where there is less memory than that
//   folio-pressure  the same, in large folios where the kernel has them
//   drop       N pages are written and given back with MADV_DONTNEED
//
// It prints "minor M major M pid P grown KIB", of the process that faulted, as getrusage(2) counts
// from just before the function to just after it, and by how much its Rss grew
// (proc_pid_smaps_rollup, which is exact; 0 before Linux 4.14, which has no such file).
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "tests/live/puppets/puppet.h"

namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kHugeBytes = 2U << 20U;

sigjmp_buf after_fault;

struct Memory {
  volatile char* at = nullptr;
  long count = 0;
  std::size_t step_bytes = kPageBytes;

  std::size_t bytes() const { return static_cast<std::size_t>(count) * step_bytes; }

  void* start() const { return const_cast<char*>(at); }
};

}  // namespace

[[gnu::noinline, gnu::aligned(64)]] void write_each_page(const Memory& memory) {
  for (long page = 0; page < memory.count; ++page) {
    memory.at[static_cast<std::size_t>(page) * memory.step_bytes] = 1;
  }
}

[[gnu::noinline, gnu::aligned(64)]] void touch_each_page(const Memory& memory) {
  for (long page = 0; page < memory.count; ++page) {
    (void)memory.at[static_cast<std::size_t>(page) * memory.step_bytes];
  }
}

namespace {

void on_fault(int /*signal*/) {
  siglongjmp(after_fault, 1);
}

// A function of its own: what a jump comes back to must have changed no variable since.
[[gnu::noinline]] void touch_and_return(const Memory& memory) {
  if (sigsetjmp(after_fault, 1) == 0) {
    touch_each_page(memory);
  }
}

void touch_forbidden(const Memory& memory) {
  struct sigaction action {};

  action.sa_handler = on_fault;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
  for (long page = 0; page < memory.count; ++page) {
    touch_and_return({.at = memory.at + static_cast<std::size_t>(page) * kPageBytes, .count = 1});
  }
}

Memory map(long count, std::size_t step_bytes, int flags, int fd = -1) {
  const auto bytes = static_cast<std::size_t>(count) * step_bytes;
  // Aligned for transparent huge pages; the rest of the mapping is never touched.
  const std::size_t slack =
      step_bytes == kHugeBytes && fd == -1 && (flags & MAP_HUGETLB) == 0 ? kHugeBytes : 0;
  const int protection = PROT_READ | PROT_WRITE;
  void* const at = mmap(nullptr, bytes + slack, protection, flags, fd, 0);
  if (at == MAP_FAILED) {
    give_up("mmap", errno);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const auto aligned = slack == 0 ? address : (address + slack - 1) / slack * slack;
  return {
      .at = reinterpret_cast<volatile char*>(aligned), .count = count, .step_bytes = step_bytes};
}

Memory map_small(long count, int flags, int fd = -1) {
  const Memory memory = map(count, kPageBytes, flags, fd);
  // A huge page would be one fault for 512 pages; a file is only anonymous memory's to advise.
  madvise(memory.start(), memory.bytes(), MADV_NOHUGEPAGE);
  return memory;
}

int open_file(char** argv, int argc, bool cached) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s KIND COUNT FILE\n", argv[0]);
    std::exit(2);
  }
  const int fd = open(argv[3], O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    give_up(argv[3], errno);
  }
  if (!cached) {
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  }
  return fd;
}

Memory map_file(char** argv, int argc, long count, int flags, bool cached) {
  const Memory memory = map(count, kPageBytes, flags, open_file(argv, argc, cached));
  if (madvise(memory.start(), memory.bytes(), MADV_RANDOM) != 0) {
    give_up("madvise", errno);
  }
  return memory;
}

struct Counts {
  long minor = 0;
  long major = 0;
};

Counts counts() {
  struct rusage usage {};

  getrusage(RUSAGE_SELF, &usage);
  return {usage.ru_minflt, usage.ru_majflt};
}

// Without an allocation, which could be a fault.
long resident_kib() {
  static char text[4096];
  const int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
  const ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  close(fd);
  text[std::max<ssize_t>(size, 0)] = 0;
  const char* const rss = std::strstr(text, "Rss:");
  return rss == nullptr ? 0 : std::strtol(rss + std::strlen("Rss:"), nullptr, 10);
}

void measure(void (*function)(const Memory&), const Memory& memory) {
  // The page of code must not be what faults in the function.
  (void)*reinterpret_cast<const volatile char*>(&touch_each_page);
  (void)*reinterpret_cast<const volatile char*>(&write_each_page);
  resident_kib();
  const long old_kib = resident_kib();
  const Counts before = counts();
  function(memory);
  const Counts after = counts();
  const long new_kib = resident_kib();
  std::printf("minor %ld major %ld pid %d grown %ld\n",
              after.minor - before.minor,
              after.major - before.major,
              static_cast<int>(getpid()),
              new_kib - old_kib);
  std::fflush(stdout);
}

void fill(const Memory& memory) {
  for (long page = 0; page < memory.count; ++page) {
    memory.at[static_cast<std::size_t>(page) * memory.step_bytes] = 2;
  }
}

void copy(const Memory& memory) {
  fill(memory);
  const pid_t child = fork();
  if (child == 0) {
    measure(write_each_page, memory);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

// How many pages are in memory, those in the swap cache among them.
long resident_pages(const Memory& memory) {
  std::vector<unsigned char> is_resident(static_cast<std::size_t>(memory.count));
  if (mincore(memory.start(), memory.bytes(), is_resident.data()) != 0) {
    give_up("mincore", errno);
  }
  return std::count_if(
      is_resident.begin(), is_resident.end(), [](unsigned char page) { return (page & 1U) != 0; });
}

// A page that is written stays in the swap cache until somebody needs the room. One that another
// CPU still holds in a batch of its own, before the kernel's lists, is not written at all.
void swap_out(const Memory& memory) {
  constexpr int kTries = 20;
  constexpr long kMorePages = 4096;
  for (int i = 0; i < kTries && resident_pages(memory) > 0; ++i) {
    if (madvise(memory.start(), memory.bytes(), MADV_PAGEOUT) != 0) {
      give_up("madvise(MADV_PAGEOUT)", errno);
    }
    const Memory more = map_small(kMorePages, MAP_PRIVATE | MAP_ANONYMOUS);
    fill(more);
    munmap(more.start(), more.bytes());
  }
}

void swap(const Memory& memory) {
  fill(memory);
  swap_out(memory);
  measure(touch_each_page, memory);
}

void pressure(const Memory& memory) {
  fill(memory);
  measure(touch_each_page, memory);
}

void drop(const Memory& memory) {
  measure(write_each_page, memory);
  madvise(memory.start(), memory.bytes(), MADV_DONTNEED);
}

void play(std::string_view kind, long count, int argc, char** argv) {
  constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
  if (kind == "copy") {
    copy(map_small(count, kPrivate));
  } else if (kind == "file") {
    measure(touch_each_page, map_file(argv, argc, count, MAP_SHARED, false));
  } else if (kind == "cached") {
    measure(write_each_page, map_file(argv, argc, count, MAP_SHARED, true));
  } else if (kind == "private") {
    measure(write_each_page, map_file(argv, argc, count, MAP_PRIVATE, true));
  } else if (kind == "shared") {
    measure(write_each_page, map_small(count, MAP_SHARED | MAP_ANONYMOUS));
  } else if (kind == "hugetlb") {
    measure(write_each_page, map(count, kHugeBytes, kPrivate | MAP_HUGETLB));
  } else if (kind == "populate") {
    measure(write_each_page, map(count, kHugeBytes, kPrivate | MAP_HUGETLB | MAP_POPULATE));
  } else if (kind == "thp") {
    const Memory memory = map(count, kHugeBytes, kPrivate);
    madvise(memory.start(), memory.bytes(), MADV_HUGEPAGE);
    measure(write_each_page, memory);
  } else if (kind == "zero-thp") {
    const Memory memory = map(count, kHugeBytes, kPrivate);
    madvise(memory.start(), memory.bytes(), MADV_HUGEPAGE);
    touch_each_page(memory);
    measure(write_each_page, memory);
  } else if (kind == "zero") {
    const Memory memory = map_small(count, kPrivate);
    touch_each_page(memory);
    measure(write_each_page, memory);
  } else if (kind == "beyond") {
    const Memory memory = map_file(argv, argc, count, MAP_SHARED, true);
    if (truncate(argv[3], 0) != 0) {
      give_up(argv[3], errno);
    }
    measure(touch_forbidden, memory);
  } else if (kind == "forbidden") {
    const Memory memory = map_small(count, kPrivate);
    mprotect(memory.start(), memory.bytes(), PROT_NONE);
    measure(touch_forbidden, memory);
  } else if (kind == "swap") {
    swap(map_small(count, kPrivate));
  } else if (kind == "pressure") {
    pressure(map_small(count, kPrivate));
  } else if (kind == "folio-pressure") {
    pressure(map(count, kPageBytes, kPrivate));
  } else if (kind == "folios") {
    measure(write_each_page, map(count, kPageBytes, kPrivate, -1));
  } else if (kind == "drop") {
    drop(map_small(count, kPrivate));
  } else {
    give_up("unknown kind", EINVAL);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 2);
  play(argv[1], count, argc, argv);
  return 0;
}
