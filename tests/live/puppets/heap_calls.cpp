// heap_calls N [DEPTH]: calls malloc and free N times each through libc, and prints the nanoseconds
// that one pair took. Whatever else it allocates, it does for any N. The calls are made DEPTH
// frames of some 300 bytes below main.
#include <array>
#include <chrono>

#include "tests/live/puppets/puppet.h"

namespace {

double measure(long count) {
  using std::chrono::steady_clock;
  const auto start = steady_clock::now();
  for (long i = 0; i < count; ++i) {
    void* block = std::malloc(4242);
    asm volatile("" : "+r"(block));  // else the compiler leaves both calls out
    std::free(block);
  }
  const std::chrono::duration<double, std::nano> taken = steady_clock::now() - start;
  return count > 0 ? taken.count() / static_cast<double>(count) : 0;
}

// NOLINTNEXTLINE(misc-no-recursion): the frames are what it is for
[[gnu::noinline]] double descend(long depth, long count) {
  std::array<char, 256> frame;
  asm volatile("" : : "r"(frame.data()) : "memory");  // else it is no frame
  const double taken = depth > 0 ? descend(depth - 1, count) : measure(count);
  asm volatile("" : : "r"(frame.data()) : "memory");
  return taken;
}

}  // namespace

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 1);
  std::printf("%.1f\n", descend(argc > 2 ? count_argument(argc, argv, 2) : 0, count));
  return 0;
}
