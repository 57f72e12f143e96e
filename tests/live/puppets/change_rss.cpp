// change_rss FILE: says "ready", waits for a line, changes its resident size by known numbers of
// pages, says "done", and waits to be killed. FILE has at least 128 pages, all of them in the page
// cache.
//
//   1000 pages of anonymous memory are written                  first touch  +1000
//    300 of them are unmapped                                   unmapped      -300
//    200 of them are discarded                                  madvise       -200
//     50 that were only read are written                        first touch    +50
//      a byte of an aligned area with MADV_HUGEPAGE             huge          +512, or a small page
//     64 pages of FILE are mapped with MAP_POPULATE             by a call      +64
//     64 more are mapped, and one of each 16 is read            file, around   +64 in all
//      8 of those, privately mapped, are read and then written  copied +8, replaced -8
//     40 pages of shared memory are written                     shared memory  +40
//     30 pages of the stack are written                         stack          +30
//   a child reads 10 and writes 20 of the parent's pages, and ends
//
// mm/memory.c counts them (inc_mm_counter). Checked on 6.18 by /proc/PID/smaps and status.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

#include "tests/live/puppets/puppet.h"

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = 512 * kPage;

struct Made {
  int protection = PROT_READ | PROT_WRITE;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  int file = -1;
  std::size_t first_page = 0;
};

volatile char* map_pages(std::size_t pages, const Made& made = {}) {
  void* const start = mmap(nullptr,
                           pages * kPage,
                           made.protection,
                           made.flags,
                           made.file,
                           static_cast<off_t>(made.first_page * kPage));
  if (start == MAP_FAILED) {
    give_up("mmap", errno);
  }
  if (made.file < 0) {
    (void)madvise(start, pages * kPage, MADV_NOHUGEPAGE);
  }
  return static_cast<volatile char*>(start);
}

void write_pages(volatile char* start, std::size_t pages) {
  for (std::size_t i = 0; i < pages; ++i) {
    start[i * kPage] = 1;
  }
}

char read_pages(const volatile char* start, std::size_t pages, std::size_t step = 1) {
  char sum = 0;
  for (std::size_t i = 0; i < pages; i += step) {
    sum = static_cast<char>(sum + start[i * kPage]);
  }
  return sum;
}

void touch_huge() {
  volatile char* const area = map_pages(4 * 512);
  const auto address = reinterpret_cast<std::uintptr_t>(area);
  volatile char* const huge = area + ((address + kHugePage - 1) / kHugePage * kHugePage - address);
  (void)madvise(const_cast<char*>(huge), kHugePage, MADV_HUGEPAGE);
  huge[5 * kPage] = 1;
}

[[gnu::noinline]] void touch_stack() {
  volatile char pages[30 * kPage];
  for (std::size_t i = sizeof pages; i > 0; i -= kPage) {
    pages[i - 1] = 1;  // downwards, as a stack grows
  }
}

void touch_file(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    give_up(path, errno);
  }
  (void)map_pages(64, {.protection = PROT_READ, .flags = MAP_SHARED | MAP_POPULATE, .file = file});
  volatile char* const half = map_pages(64, {.flags = MAP_PRIVATE, .file = file, .first_page = 64});
  (void)read_pages(half, 64, 16);
  (void)read_pages(half, 8);  // the kernel does not map locked pages around a fault
  write_pages(half, 8);
}

void fork_child(volatile char* pages) {
  const pid_t child = fork();
  if (child == 0) {
    (void)read_pages(pages, 10);
    write_pages(pages, 20);
    _exit(0);
  }
  if (child < 0 || waitpid(child, nullptr, 0) != child) {
    give_up("fork", errno);
  }
}

void say(const char* word) {
  if (write(STDOUT_FILENO, word, std::strlen(word)) < 0) {
    give_up("write", errno);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: change_rss FILE\n");
    return 2;
  }
  say("ready\n");
  char line = 0;
  if (read(STDIN_FILENO, &line, 1) != 1) {
    return 1;
  }
  volatile char* const memory = map_pages(1000);
  write_pages(memory, 1000);
  munmap(const_cast<char*>(memory), 300 * kPage);
  madvise(const_cast<char*>(memory + 400 * kPage), 200 * kPage, MADV_DONTNEED);
  volatile char* const zeros = map_pages(50);
  (void)read_pages(zeros, 50);
  write_pages(zeros, 50);
  touch_huge();
  touch_file(argv[1]);
  write_pages(map_pages(40, {.flags = MAP_SHARED | MAP_ANONYMOUS}), 40);
  touch_stack();
  fork_child(memory + 700 * kPage);
  say("done\n");
  pause();
  return 0;
}
