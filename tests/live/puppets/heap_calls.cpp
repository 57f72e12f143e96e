// heap_calls N: calls malloc and free N times each through libc, and prints the nanoseconds that
// one pair took. Whatever else it allocates, it does for any N.
#include <chrono>

#include "tests/live/puppets/puppet.h"

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 1);
  using std::chrono::steady_clock;
  const auto start = steady_clock::now();
  for (long i = 0; i < count; ++i) {
    void* block = std::malloc(4242);
    asm volatile("" : "+r"(block));  // else the compiler leaves both calls out
    std::free(block);
  }
  const std::chrono::duration<double, std::nano> taken = steady_clock::now() - start;
  std::printf("%.1f\n", count > 0 ? taken.count() / static_cast<double>(count) : 0);
  return 0;
}
