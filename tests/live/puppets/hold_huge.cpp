// hold_huge COUNT: maps COUNT huge pages of 2 MiB in three ways that /proc/PID/maps shows as small
// files or not at all as huge: MAP_HUGETLB, a System V segment, a memfd. Then says "mapped", waits
// for a line, and writes to each page in touch_held_pages.
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <span>

#include "tests/live/puppets/puppet.h"

namespace {

constexpr std::size_t kHugeBytes = std::size_t{2} << 20;

char* mapped(void* at, const char* what) {
  if (at == MAP_FAILED) {
    give_up(what, errno);
  }
  return static_cast<char*>(at);
}

char* map_anonymous(std::size_t bytes) {
  return mapped(
      ::mmap(
          nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0),
      "mmap");
}

// Marked for removal at once: it goes with the process.
char* map_segment(std::size_t bytes) {
  const int id = ::shmget(IPC_PRIVATE, bytes, 0600 | IPC_CREAT | SHM_HUGETLB);
  if (id < 0) {
    give_up("shmget", errno);
  }
  void* at = ::shmat(id, nullptr, 0);
  ::shmctl(id, IPC_RMID, nullptr);
  return mapped(at, "shmat");
}

char* map_memfd(std::size_t bytes) {
  const int fd = ::memfd_create("held", MFD_HUGETLB);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    give_up("memfd_create", errno);
  }
  return mapped(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), "mmap of memfd");
}

[[gnu::noinline]] void touch_held_pages(std::span<char> memory) {
  for (std::size_t at = 0; at < memory.size(); at += kHugeBytes) {
    static_cast<volatile char&>(memory[at]) = 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t bytes = static_cast<std::size_t>(count_argument(argc, argv, 1)) * kHugeBytes;
  const std::array<char*, 3> memories = {
      map_anonymous(bytes), map_segment(bytes), map_memfd(bytes)};
  std::puts("mapped");
  std::fflush(stdout);
  static_cast<void>(std::getchar());
  for (char* memory : memories) {
    touch_held_pages({memory, bytes});
  }
  return 0;
}
