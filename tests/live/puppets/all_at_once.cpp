// all_at_once: everything that return probes are known to break, in four threads: exceptions, a
// bad_alloc out of operator new, longjmp(3) out of an allocation's caller, signal handlers on a
// stack of their own, and fork(2). Prints the same lines and ends with the same status, 7, each
// time.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kThreads = 4;
constexpr int kTurns = 60;

std::atomic<int> caught = 0;
std::atomic<int> refused = 0;
std::atomic<int> jumped = 0;
std::atomic<int> signals = 0;

[[gnu::noinline]] void throw_after_allocating(int turn) {
  std::vector<std::string> texts(static_cast<std::size_t>(turn % 5 + 1), std::string(100, 'x'));
  throw std::runtime_error("after " + std::to_string(texts.size()));
}

[[gnu::noinline]] void ask_for_too_much() {
  volatile std::size_t huge = std::size_t{1} << 62U;
  ::operator delete(::operator new(huge));
}

[[gnu::noinline]] void allocate_and_jump(jmp_buf& back) {
  void* block = std::malloc(77);
  asm volatile("" : "+r"(block) : : "memory");
  std::free(block);
  longjmp(back, 1);
}

void on_signal(int /*number*/) {
  ++signals;
}

void* work(void* /*nothing*/) {
  std::vector<char> own_stack(std::size_t{64} << 10U);
  stack_t stack{};
  stack.ss_sp = own_stack.data();
  stack.ss_size = own_stack.size();
  sigaltstack(&stack, nullptr);
  for (int turn = 0; turn < kTurns; ++turn) {
    try {
      throw_after_allocating(turn);
    } catch (const std::runtime_error&) {
      ++caught;
    }
    try {
      ask_for_too_much();
    } catch (const std::bad_alloc&) {
      ++refused;
    }
    jmp_buf back;
    if (setjmp(back) == 0) {
      allocate_and_jump(back);
    }
    ++jumped;
    pthread_kill(pthread_self(), SIGUSR1);
  }
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
  return nullptr;
}

// Each child allocates, throws and ends in its own way.
int statuses_of_children() {
  int sum = 0;
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      try {
        throw_after_allocating(i);
      } catch (const std::runtime_error& error) {
        _exit(i + (error.what()[0] == 'a' ? 10 : 0));
      }
    }
    int status = 0;
    waitpid(child, &status, 0);
    sum += WEXITSTATUS(status);
  }
  return sum;
}

}  // namespace

int main() {
  struct sigaction action {};

  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  pthread_t threads[kThreads];
  for (pthread_t& thread : threads) {
    pthread_create(&thread, nullptr, work, nullptr);
  }
  const int children = statuses_of_children();
  for (const pthread_t thread : threads) {
    pthread_join(thread, nullptr);
  }
  std::printf("caught %d refused %d jumped %d signals %d children %d\n",
              caught.load(),
              refused.load(),
              jumped.load(),
              signals.load(),
              children);
  return 7;
}
