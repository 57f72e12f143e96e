// Functions with frames of different sizes: each must be looked up in .eh_frame by itself.
#include "cut_library.h"

namespace {

template <int number>
[[gnu::noinline]] void call(Take* take) {
  char frame[100 + 16 * number];
  asm volatile("" : : "r"(frame) : "memory");
  take(16 * number + 1);
  asm volatile("" : : "r"(frame) : "memory");
}

template <int number>
void fill(CallInFrame** calls) {
  if constexpr (number < kFrames) {
    calls[number] = call<number>;
    fill<number + 1>(calls);
  }
}

}  // namespace

extern "C" void fill_calls(CallInFrame** calls) {
  fill<0>(calls);
}
