// heap_patterns PATTERN: allocations of known sizes in functions of known names; what each leaks
// stands beside it. The kernel has no part in it: malloc(3) and its like, and fork(2).
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <new>
#include <string_view>

#include "tests/live/puppets/puppet.h"

namespace {

// Else the compiler leaves calls out whose result it sees nobody use.
void* keep(void* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

[[gnu::noinline]] void leak_by_malloc() {  // 10 blocks, 1,045 bytes
  for (std::size_t i = 0; i < 10; ++i) {
    keep(std::malloc(100 + i));
  }
}

[[gnu::noinline]] void leak_by_calloc() {  // 5 blocks, 1,000 bytes
  for (int i = 0; i < 5; ++i) {
    keep(std::calloc(20, 10));
  }
}

[[gnu::noinline]] void leak_by_realloc() {  // 3 blocks, 15,000 bytes, each grown 5 times
  for (int i = 0; i < 3; ++i) {
    void* block = nullptr;
    for (std::size_t size = 1000; size <= 5000; size += 1000) {
      block = keep(std::realloc(block, size));
    }
  }
}

[[gnu::noinline]] void leak_aligned() {  // 5 blocks, 1,600 bytes
  for (int i = 0; i < 2; ++i) {
    void* block = nullptr;
    if (posix_memalign(&block, 64, 400) == 0) {
      keep(block);
    }
    keep(std::aligned_alloc(64, 384));
  }
  keep(std::malloc(32));
}

[[gnu::noinline]] void leak_by_new() {  // 6 blocks, 6 * 77 bytes
  for (int i = 0; i < 6; ++i) {
    keep(::operator new(77));
  }
}

// In jemalloc the one jumps to operator new, and the other calls aligned_alloc.
[[gnu::noinline]] void leak_by_other_news() {  // 7 blocks, 4 * 50 + 3 * 64 bytes
  for (int i = 0; i < 4; ++i) {
    keep(::operator new[](50));
  }
  for (int i = 0; i < 3; ++i) {
    keep(::operator new (64, std::align_val_t{64}));
  }
}

[[gnu::noinline]] void free_all() {  // nothing
  for (int i = 0; i < 50; ++i) {
    std::free(keep(std::malloc(64)));
    ::operator delete(keep(::operator new(48)));
  }
  void* block = keep(std::malloc(10));
  volatile std::size_t huge = std::size_t{1} << 60U;
  if (std::realloc(block, huge) == nullptr) {
    std::free(block);  // realloc failed: it is still there
  }
}

void* run_thread(void* /*nothing*/) {
  for (int i = 0; i < 100; ++i) {
    std::free(keep(std::malloc(200)));
  }
  keep(std::malloc(250));  // 1 block, 250 bytes a thread
  return nullptr;
}

[[gnu::noinline]] void leak_in_threads() {
  pthread_t threads[4];
  for (pthread_t& thread : threads) {
    pthread_create(&thread, nullptr, run_thread, nullptr);
  }
  for (const pthread_t& thread : threads) {
    pthread_join(thread, nullptr);
  }
}

[[gnu::noinline]] void leak_in_child() {  // 7 blocks of 300 bytes, in the child
  for (int i = 0; i < 7; ++i) {
    keep(std::malloc(300));
  }
}

[[gnu::noinline]] void fork_and_leak() {
  void* inherited = keep(std::malloc(5000));
  if (fork() == 0) {
    std::free(inherited);  // the child's copy
    leak_in_child();
    _exit(0);
  }
  wait(nullptr);
  std::free(inherited);
}

std::jmp_buf back;

void jump_back(int /*signal*/) {
  keep(std::malloc(33));  // 1 block, 33 bytes
  std::longjmp(back, 1);
}

// Exceptions and jumps: ends as it would without anybody watching.
[[gnu::noinline]] void leave_in_every_way() {
  std::signal(SIGUSR1, jump_back);
  if (setjmp(back) == 0) {
    raise(SIGUSR1);
  }
  int caught = 0;
  for (int i = 0; i < 3; ++i) {
    try {
      volatile std::size_t huge = std::size_t{1} << 62U;
      keep(::operator new(huge));
    } catch (const std::bad_alloc&) {
      ++caught;
    }
  }
  std::printf("caught %d\n", caught);
}

// Leaks as leak_by_malloc when it gets SIGUSR2, for which it says that it is ready, and ends.
void pause_and_leak() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR2);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  std::puts("ready");
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  leak_by_malloc();
  sleep(1);
}

struct Pattern {
  std::string_view name;
  void (*run)();
};

constexpr Pattern kPatterns[] = {
    {"malloc", leak_by_malloc},
    {"calloc", leak_by_calloc},
    {"realloc", leak_by_realloc},
    {"aligned", leak_aligned},
    {"new", leak_by_new},
    {"other-news", leak_by_other_news},
    {"free", free_all},
    {"threads", leak_in_threads},
    {"fork", fork_and_leak},
    {"leave", leave_in_every_way},
    {"pause", pause_and_leak},
};

bool is_of_one_thread(const Pattern& pattern) {
  return pattern.run != leak_in_threads && pattern.run != fork_and_leak;
}

}  // namespace

// Also all of them, and those "alone" that start no thread and no process; but for the pause.
int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  for (const Pattern& pattern : kPatterns) {
    const bool is_one_of_many = wanted == "all" || (wanted == "alone" && is_of_one_thread(pattern));
    if ((is_one_of_many && pattern.run != pause_and_leak) || wanted == pattern.name) {
      pattern.run();
    }
  }
  return 0;
}
