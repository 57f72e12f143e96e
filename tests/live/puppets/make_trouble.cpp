// make_trouble NAME HOW: one problem of a production machine, made by a process of this name, which
// memtrace's first screen has to give as the culprit. The process ends a second after its parent.
//   dentries N         asks for N files that are not there: the kernel keeps a dentry of each
//   reread PATH PAGES  writes a file and reads it four times: in a small cgroup none of it stays
//   huge N             touches N huge pages, which the kernel has to find and to clear
//   again PAGES        touches pages, round by round: in a small cgroup each comes from swap
//   fork PAGES         writes to pages in a child that shares them: each is copied
//   sockets N          opens N sockets and closes none
//   tmpfs PATH PAGES   writes a file, which stays: PATH is in a tmpfs
//   lock PAGES         locks pages with mlock(2)
//   hugetlb N          touches N pages of hugetlb
//   map N              maps and unmaps a page N times
//   dirty PATH PAGES   writes a file faster than the disk
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include "tests/live/puppets/puppet.h"

namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kHugeBytes = std::size_t{2} << 20U;

volatile char* map(std::size_t bytes, int flags, std::size_t alignment = kPageBytes) {
  void* const pages = mmap(nullptr,
                           bytes + alignment,
                           PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | flags,
                           -1,
                           0);
  if (pages == MAP_FAILED) {
    give_up("mmap", errno);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(pages);
  return reinterpret_cast<volatile char*>((address + alignment - 1) / alignment * alignment);
}

void touch(volatile char* pages, long count, char value, std::size_t page_bytes = kPageBytes) {
  for (long page = 0; page < count; ++page) {
    pages[static_cast<std::size_t>(page) * page_bytes] = value;
  }
}

volatile char* small_pages(long count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * kPageBytes;
  volatile char* const pages = map(bytes, 0);
  (void)madvise(const_cast<char*>(pages), bytes, MADV_NOHUGEPAGE);
  return pages;
}

int keep_dentries(long count) {
  struct stat status {};

  for (long i = 0; i < count; ++i) {
    const std::string name = std::to_string(getpid()) + "_" + std::to_string(i);
    (void)stat(("/tmp/memtrace_no_file_" + name).c_str(), &status);
  }
  return 0;
}

int open_file(const char* path, int flags) {
  const int file = open(path, flags | O_CLOEXEC, 0600);
  if (file < 0) {
    give_up(path, errno);
  }
  return file;
}

int write_pages(const char* path, long count) {
  const int file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  const std::string page(kPageBytes, 'x');
  for (long i = 0; i < count; ++i) {
    if (write(file, page.data(), page.size()) != static_cast<ssize_t>(page.size())) {
      give_up("write", errno);
    }
  }
  return close(file);
}

int reread(const char* path, long count) {
  write_pages(path, count);
  std::string page(kPageBytes, '\0');
  for (int round = 0; round < 4; ++round) {
    const int file = open_file(path, O_RDONLY);
    while (read(file, page.data(), page.size()) > 0) {
    }
    (void)close(file);
  }
  return 0;
}

int touch_huge_pages(long count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * kHugeBytes;
  volatile char* const pages = map(bytes, 0, kHugeBytes);
  (void)madvise(const_cast<char*>(pages), bytes, MADV_HUGEPAGE);
  touch(pages, count, 1, kHugeBytes);
  return 0;
}

int touch_again(long count) {
  volatile char* const pages = small_pages(count);
  for (char round = 1; round < 5; ++round) {
    touch(pages, count, round);
  }
  return 0;
}

int fork_and_write(long count) {
  volatile char* const pages = small_pages(count);
  touch(pages, count, 1);
  const pid_t child = fork();
  if (child == 0) {
    touch(pages, count, 2);
    _exit(0);
  }
  (void)waitpid(child, nullptr, 0);
  return 0;
}

// As many as a process may open, and the rest in children of the same name.
int open_sockets(long count) {
  rlimit files{};
  (void)getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &files);
  for (long i = 0; i < count; ++i) {
    const int file = socket(AF_INET, SOCK_DGRAM, 0);
    if (file < 0) {
      return errno == EMFILE && fork() == 0 && close_range(3, ~0U, 0) == 0 ? open_sockets(count - i)
                                                                           : 0;
    }
  }
  return 0;
}

int lock_pages(long count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * kPageBytes;
  return mlock(const_cast<char*>(small_pages(count)), bytes);
}

int touch_hugetlb(long count) {
  touch(map(static_cast<std::size_t>(count) * kHugeBytes, MAP_HUGETLB, kHugeBytes),
        count,
        1,
        kHugeBytes);
  return 0;
}

int map_often(long count) {
  for (long i = 0; i < count; ++i) {
    void* const page = mmap(nullptr, kPageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)munmap(page, kPageBytes);
  }
  return 0;
}

int make_trouble(std::string_view how, int argc, char** argv) {
  const auto count = [&](int index) { return count_argument(argc, argv, index); };
  if (how == "reread") {
    return reread(argv[3], count(4));
  }
  if (how == "tmpfs" || how == "dirty") {
    return write_pages(argv[3], count(4));
  }
  return how == "dentries"  ? keep_dentries(count(3))
         : how == "huge"    ? touch_huge_pages(count(3))
         : how == "again"   ? touch_again(count(3))
         : how == "fork"    ? fork_and_write(count(3))
         : how == "sockets" ? open_sockets(count(3))
         : how == "lock"    ? lock_pages(count(3))
         : how == "hugetlb" ? touch_hugetlb(count(3))
         : how == "map"     ? map_often(count(3))
                            : 2;
}

// What it allocated is to be there when the recording ends, which its parent's end brings about.
int hold() {
  sigset_t signals;
  (void)sigemptyset(&signals);
  (void)sigaddset(&signals, SIGTERM);
  (void)sigprocmask(SIG_BLOCK, &signals, nullptr);
  (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
  const timespec longest{.tv_sec = 10, .tv_nsec = 0};
  (void)sigtimedwait(&signals, nullptr, &longest);
  (void)sleep(1);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s NAME HOW ARGUMENT...\n", argv[0]);
    return 2;
  }
  (void)prctl(PR_SET_NAME, argv[1]);
  if (const int status = make_trouble(argv[2], argc, argv); status != 0) {
    return status;
  }
  return hold();
}
