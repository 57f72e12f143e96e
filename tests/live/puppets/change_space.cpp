// change_space map FILE MAPS: known mappings. 50 of 8 anonymous pages in map_many(), of 20 of which
// unmap_parts() unmaps 3 pages in the middle; one of 4 pages grows to 16 in remap_one(), wherever;
// 2 pages of FILE and 2 of the file behind descriptor 5, if it is open, in map_files(); 3 calls in
// map_wrongly() fail with EINVAL. Then 16 threads map and unmap at once, 500 times each. Last it
// writes its /proc/self/maps to MAPS, without a change to the address space in between.
// change_space heap: brk grows 10 times by 102,400 bytes in grow(), shrinks 4 times by 40,960 in
// shrink(), and is asked 7 times for the top in ask().
// change_space refuse: under RLIMIT_AS, 64 MiB above what it has, 20 mappings of 256 MiB and 3 brk
// for 256 MiB more are refused.
// Each ends by _exit, so that nothing is unmapped.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/live/puppets/puppet.h"
#include "tools/inline_syscall.h"

namespace {

constexpr long kPage = 4096;
constexpr long kHuge = 256L << 20;

long map(long bytes, int protection, int flags, int fd = -1, long offset = 0) {
  return inline_syscall(SYS_mmap, {0, bytes, protection, flags, fd, offset});
}

long map_anonymous(long bytes) {
  return checked(map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS), "mmap");
}

}  // namespace

[[gnu::noinline]] void map_many(std::array<long, 50>& places) {
  for (long& place : places) {
    place = map_anonymous(8 * kPage);
  }
}

[[gnu::noinline]] void unmap_parts(const std::array<long, 50>& places) {
  for (std::size_t i = 0; i < 20; ++i) {
    checked(inline_syscall(SYS_munmap, {places.at(i) + 2 * kPage, 3 * kPage}), "munmap");
  }
}

[[gnu::noinline]] void remap_one() {
  const long place = map_anonymous(4 * kPage);
  checked(inline_syscall(SYS_mremap, {place, 4 * kPage, 16 * kPage, MREMAP_MAYMOVE}), "mremap");
}

[[gnu::noinline]] void map_files(const char* path) {
  constexpr int kInherited = 5;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  checked(map(2 * kPage, PROT_READ, MAP_PRIVATE, fd, kPage), "mmap of a file");
  if (fcntl(kInherited, F_GETFD) >= 0) {
    checked(map(2 * kPage, PROT_READ, MAP_SHARED, kInherited), "mmap of an inherited file");
  }
}

[[gnu::noinline]] void map_wrongly() {
  for (int i = 0; i < 3; ++i) {
    map(0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS);
  }
}

void map_in_threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([i] {
      for (int round = 0; round < 500; ++round) {
        const long bytes = (1 + (round + i) % 5) * kPage;
        const long place = map_anonymous(bytes);
        const bool is_kept = round % 100 == 99;
        if (!is_kept) {
          checked(inline_syscall(SYS_munmap, {place, bytes}), "munmap");
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// Read with memory that is there already.
void write_maps(const char* path) {
  static std::array<char, 1 << 20> text;
  const int from = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  const int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  for (long size = 1; size > 0;) {
    size = read(from, text.data(), text.size());
    if (size > 0 && write(to, text.data(), static_cast<std::size_t>(size)) != size) {
      give_up("write", errno);
    }
  }
}

[[gnu::noinline]] void grow(long& top) {
  for (int i = 0; i < 10; ++i) {
    top = checked(inline_syscall(SYS_brk, {top + 102'400}), "brk");
  }
}

[[gnu::noinline]] void shrink(long& top) {
  for (int i = 0; i < 4; ++i) {
    top = checked(inline_syscall(SYS_brk, {top - 40'960}), "brk");
  }
}

[[gnu::noinline]] long ask() {
  long top = 0;
  for (int i = 0; i < 7; ++i) {
    top = inline_syscall(SYS_brk, {0});
  }
  return top;
}

void move_heap() {
  long top = ask();
  grow(top);
  shrink(top);
}

[[gnu::noinline]] void map_too_much() {
  for (int i = 0; i < 20; ++i) {
    map(kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  }
}

[[gnu::noinline]] void grow_too_much() {
  const long top = inline_syscall(SYS_brk, {0});
  for (int i = 0; i < 3; ++i) {
    inline_syscall(SYS_brk, {top + kHuge});
  }
}

void be_refused() {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto limit = static_cast<rlim_t>(pages * kPage + (64L << 20));
  const rlimit address_space{.rlim_cur = limit, .rlim_max = limit};
  if (setrlimit(RLIMIT_AS, &address_space) != 0) {
    give_up("setrlimit", errno);
  }
  map_too_much();
  grow_too_much();
  usleep(1'000'000);  // so that its limits can be read, on a busy machine too
}

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "map" && argc > 3) {
    std::array<long, 50> places{};
    map_many(places);
    unmap_parts(places);
    remap_one();
    map_files(argv[2]);
    map_wrongly();
    map_in_threads();
    write_maps(argv[3]);
  } else if (what == "heap") {
    move_heap();
  } else if (what == "refuse") {
    be_refused();
  } else {
    std::fprintf(stderr, "usage: %s map FILE MAPS | heap | refuse\n", argv[0]);
    return 2;
  }
  _exit(0);
}
