// run_out HOW: one call is refused memory, in run_into_limit(), and then it waits a moment, so that
// its limits can be read. It prints what it asked for, the limit, and what /proc/self said was used
// of it before: "asked 268435456 limit 73400320 used 6291456".
//   as       mmap of 256 MiB under an RLIMIT_AS of 64 MiB more than it has
//   memlock  mmap of 1 MiB with MAP_LOCKED under an RLIMIT_MEMLOCK of 64 KiB, as nobody
//   maps     mprotect of page after page in a region, until vm.max_map_count mappings are there
//   pipes    pages of pipes, in a memory cgroup with a limit and without an OOM killer, until
//            write(2) fails with ENOMEM (the kernel's own pages: fs/pipe.c, __GFP_ACCOUNT)
//   commit   mmap of 2^45 bytes: more than any machine has (mm/util.c, __vm_enough_memory)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include "tests/live/puppets/puppet.h"
#include "tools/inline_syscall.h"

namespace {

constexpr long kPage = 4096;

struct Refused {
  long asked = 0;
  unsigned long limit = 0;
  unsigned long used = 0;
};

// "VmSize:" of /proc/self/status, in bytes.
unsigned long status_bytes(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == name) {
      unsigned long kilobytes = 0;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  }
  return 0;
}

unsigned long mappings() {
  std::ifstream maps("/proc/self/maps");
  unsigned long count = 0;
  for (std::string line; std::getline(maps, line);) {
    ++count;
  }
  return count;
}

unsigned long number_in(const char* path) {
  unsigned long number = 0;
  std::ifstream(path) >> number;
  return number;
}

void set_limit(__rlimit_resource_t what, unsigned long bytes) {
  const rlimit limit = {bytes, bytes};
  if (setrlimit(what, &limit) != 0) {
    give_up("setrlimit", errno);
  }
}

}  // namespace

[[gnu::noinline]] bool run_into_limit(long bytes, int flags) {
  return inline_syscall(
             SYS_mmap,
             {0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0}) < 0;
}

[[gnu::noinline]] bool run_into_mappings(long region, long pages) {
  for (long page = 0; page < pages; page += 2) {
    if (inline_syscall(SYS_mprotect, {region + page * kPage, kPage, PROT_READ}) < 0) {
      return true;
    }
  }
  return false;
}

// No page of its own is touched for the first time: that would wait for ever.
[[gnu::noinline]] bool run_into_cgroup() {
  static std::array<char, kPage> page;
  page.fill(1);
  for (int pipes = 0; pipes < 200; ++pipes) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) {
      return errno == ENOMEM;
    }
    (void)fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    while (write(ends[1], page.data(), page.size()) > 0) {
    }
    if (errno == ENOMEM) {
      return true;
    }
  }
  return false;
}

void close_all() {
  constexpr int kFirst = 3;
  constexpr int kMost = 500;
  for (int fd = kFirst; fd < kMost; ++fd) {
    close(fd);
  }
}

namespace {

bool refuse(std::string_view how, Refused& refused) {
  constexpr long kMega = 1L << 20;
  if (how == "as") {
    refused = {256 * kMega, status_bytes("VmSize:") + 64 * kMega, 0};
    set_limit(RLIMIT_AS, refused.limit);
    refused.used = status_bytes("VmSize:");
    return run_into_limit(refused.asked, 0);
  }
  if (how == "memlock") {
    refused = {kMega, 64 * 1024, 0};
    set_limit(RLIMIT_MEMLOCK, refused.limit);
    if (setuid(65534) != 0) {
      give_up("setuid", errno);
    }
    return run_into_limit(refused.asked, MAP_LOCKED);
  }
  if (how == "maps") {
    refused = {1, number_in("/proc/sys/vm/max_map_count"), 0};
    const long pages = static_cast<long>(refused.limit) + 100;
    const long region = checked(
        inline_syscall(SYS_mmap, {0, pages * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0}),
        "mmap");
    const bool is_refused = run_into_mappings(region, pages);
    refused.used = mappings();
    return is_refused;
  }
  if (how == "pipes") {
    refused = {kPage, 0, 0};
    std::printf("a buffer is there from now on\n");
    const bool is_refused = run_into_cgroup();
    usleep(1'000'000);  // the recorder reads the cgroup's usage after the event
    close_all();
    return is_refused;
  }
  refused = {1L << 45, 0, 0};
  return run_into_limit(refused.asked, 0);
}

}  // namespace

int main(int argc, char** argv) {
  Refused refused;
  if (argc != 2 || !refuse(argv[1], refused)) {
    give_up("it was not refused", 0);
  }
  std::printf("asked %ld limit %lu used %lu\n", refused.asked, refused.limit, refused.used);
  std::fflush(stdout);
  usleep(200'000);
  return 0;
}
