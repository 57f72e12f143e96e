// What tools/demo records: one function for each way of using memory, always the same number of
// times, so that the figures of a report can be checked against the line that this prints.
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tools/inline_syscall.h"

namespace {

constexpr long kRounds = 20;
constexpr long kTouchedPages = 10'000;  // in each round, as the other counts
constexpr long kOpenedFiles = 1'000;
constexpr long kMessages = 2'000;
constexpr long kSocketPairs = 200;
constexpr long kChildren = 20;
constexpr long kLeakedPipes = 200;     // once
constexpr long kCachedFileKib = 8192;  // once
constexpr long kPageBytes = 4096;
constexpr unsigned kKeepSeconds = 3;

long checked(long result, const char* what) {
  if (result < 0) {
    std::fprintf(stderr, "demo-workload: %s: errno %ld\n", what, -result);
    std::exit(1);
  }
  return result;
}

}  // namespace

// Not in the anonymous namespace and never inlined: these names are what a report shows.
[[gnu::noinline]] void write_each_page(volatile char* pages, long count) {
  for (long page = 0; page < count; ++page) {
    pages[page * kPageBytes] = 1;
  }
}

[[gnu::noinline]] void touch_pages(long count) {
  const auto length_bytes = static_cast<std::size_t>(count * kPageBytes);
  void* const pages =
      mmap(nullptr, length_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    checked(-errno, "mmap");
  }
  // A huge page would be one fault for 512 pages.
  madvise(pages, length_bytes, MADV_NOHUGEPAGE);
  write_each_page(static_cast<volatile char*>(pages), count);
  munmap(pages, length_bytes);
}

[[gnu::noinline]] void open_files(long count) {
  std::array<char, 512> text{};
  for (long file = 0; file < count; ++file) {
    const long fd = checked(
        inline_syscall(SYS_openat, {AT_FDCWD, as_argument("/proc/self/statm"), O_RDONLY}), "open");
    inline_syscall(SYS_read, {fd, as_argument(text.data()), static_cast<long>(text.size())});
    inline_syscall(SYS_close, {fd});
  }
}

[[gnu::noinline]] void send_messages(long queue, long count) {
  struct {
    long type = 1;
    std::array<char, 1000> text{};
  } message;

  for (long sent = 0; sent < count; ++sent) {
    checked(inline_syscall(SYS_msgsnd,
                           {queue, as_argument(&message), sizeof(message.text), IPC_NOWAIT}),
            "msgsnd");
    checked(inline_syscall(SYS_msgrcv, {queue, as_argument(&message), sizeof(message.text), 0, 0}),
            "msgrcv");
  }
}

[[gnu::noinline]] void talk_over_sockets(long count) {
  const std::array<char, 512> text{};
  for (long pair = 0; pair < count; ++pair) {
    std::array<int, 2> ends{};
    checked(inline_syscall(SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0, as_argument(ends.data())}),
            "socketpair");
    inline_syscall(SYS_write, {ends[0], as_argument(text.data()), static_cast<long>(text.size())});
    inline_syscall(SYS_close, {ends[0]});
    inline_syscall(SYS_close, {ends[1]});
  }
}

[[gnu::noinline]] void fork_children(long count) {
  for (long child = 0; child < count; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      _exit(0);
    }
    checked(pid, "fork");
    waitpid(pid, nullptr, 0);
  }
}

// Leaks, as far as a recording of this program can see: keep_what_leaked() holds them.
[[gnu::noinline]] void leak_pipes(long count) {
  for (long pipe = 0; pipe < count; ++pipe) {
    std::array<int, 2> ends{};
    checked(inline_syscall(SYS_pipe2, {as_argument(ends.data()), 0}), "pipe");
  }
}

[[gnu::noinline]] void fill_page_cache(long kib) {
  const char* const folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/demo-workload.XXXXXX";
  const int fd = mkstemp(path.data());
  checked(fd, "mkstemp");
  unlink(path.c_str());
  static std::array<char, kPageBytes> page{};
  for (long written_kib = 0; written_kib < kib; written_kib += kPageBytes / 1024) {
    checked(inline_syscall(SYS_write, {fd, as_argument(page.data()), kPageBytes}), "write");
  }
}

// The pipes and the cached file stay open in a child that outlives the recording by some seconds;
// nothing is left on the machine after it.
void keep_what_leaked() {
  if (fork() == 0) {
    for (int standard = 0; standard < 3; ++standard) {
      close(standard);
    }
    sleep(kKeepSeconds);
    _exit(0);
  }
}

int main() {
  const long queue = checked(inline_syscall(SYS_msgget, {IPC_PRIVATE, IPC_CREAT | 0600}), "msgget");
  for (long round = 0; round < kRounds; ++round) {
    touch_pages(kTouchedPages);
    open_files(kOpenedFiles);
    send_messages(queue, kMessages);
    talk_over_sockets(kSocketPairs);
    fork_children(kChildren);
  }
  msgctl(static_cast<int>(queue), IPC_RMID, nullptr);
  leak_pipes(kLeakedPipes);
  fill_page_cache(kCachedFileKib);
  keep_what_leaked();
  std::printf(
      "demo-workload: touched %ld pages, opened %ld files, sent %ld messages, made %ld socket "
      "pairs, forked %ld children, left %ld pipes open, cached a file of %ld KiB\n",
      kRounds * kTouchedPages,
      kRounds * kOpenedFiles,
      kRounds * kMessages,
      kRounds * kSocketPairs,
      kRounds * kChildren,
      kLeakedPipes,
      kCachedFileKib);
  return 0;
}
