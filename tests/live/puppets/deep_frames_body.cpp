#include <signal.h>

#include <cstdint>

#include "tests/live/puppets/deep_frames.h"
#include "tests/live/puppets/messages.h"

namespace {

int the_queue = 0;
volatile long calls = 0;

}  // namespace

template <int N>
[[gnu::noinline]] long frame(long value);

extern "C" [[gnu::noinline]] int compare_and_call(const void* left, const void* right) {
  if (calls == 0) {
    calls = calls + frame<30>(calls);
  }
  return *static_cast<const int*>(left) - *static_cast<const int*>(right);
}

extern "C" [[gnu::noinline]] void handle_and_call(int) {
  calls = calls + frame<20>(calls);
}

// A realigned stack of changing size: the frame is reached through r10 at first and then
// through a copy of it (DW_CFA_def_cfa_expression).
extern "C" [[gnu::noinline]] long realign_and_call(
    long value, long, long, long, long, long, long seventh, long eighth) {
  alignas(64) volatile char room[128];
  auto* more =
      static_cast<volatile char*>(__builtin_alloca(static_cast<unsigned long>(value + 16)));
  room[value & 127] = 1;
  more[0] = 1;
  asm volatile("" : : "r"(room) : "memory");
  return frame<10>(value + seventh) + room[3] + eighth;
}

namespace {

Message message;

long send() {
  checked(msgsnd(the_queue, &message, kTextBytes, IPC_NOWAIT), "msgsnd");
  checked(msgrcv(the_queue, &message, kTextBytes, 0, IPC_NOWAIT), "msgrcv");
  return 1;
}

long sort() {
  int numbers[2] = {2, 1};
  std::qsort(numbers, 2, sizeof(int), compare_and_call);
  return numbers[0];
}

long interrupt() {
  struct sigaction action = {};
  action.sa_handler = handle_and_call;
  sigaction(SIGUSR1, &action, nullptr);
  return raise(SIGUSR1);
}

}  // namespace

template <int N>
long frame(long value) {
  // Frames of unlike sizes, with unlike registers saved.
  volatile long room[N % 5 + 1] = {value};
  if constexpr (N % 3 == 0) {
    asm volatile("" : : "r"(room) : "memory", "rbx", "rbp", "r12", "r15");
  } else {
    asm volatile("" : : "r"(room) : "memory", "r13", "r14");
  }
  long result = 0;
  if constexpr (N == 1) {
    result = send();
  } else if constexpr (N == 31) {
    result = sort();
  } else if constexpr (N == 21) {
    result = interrupt();
  } else if constexpr (N == 11) {
    result = realign_and_call(value, 0, 0, 0, 0, 0, value, value);
  } else {
    result = frame<N - 1>(value + 1);
  }
  asm volatile("" : "+r"(result) : : "memory");  // something is left to do: no tail call
  return result + room[0];
}

extern "C" long call_deep_frames(int queue) {
  the_queue = queue;
  calls = 0;
  return frame<40>(0) != -1 ? 1 : 0;
}
