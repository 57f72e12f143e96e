// many_arenas N: N threads at once hold 80 blocks of 100,000 bytes each, below the threshold from
// which malloc maps each block by itself: so glibc gives each thread an arena, of one heap that
// grows to 8 MB (malloc/arena.c), as long as N is less than 8 times the CPUs. The main thread holds
// 1,000 blocks of 4,000 bytes in the main heap, and one of 64 MiB. Ends without a free.
#include <latch>
#include <thread>
#include <vector>

#include "tests/live/puppets/puppet.h"

namespace {

void hold(std::size_t count, std::size_t bytes) {
  for (std::size_t i = 0; i < count; ++i) {
    void* block = std::malloc(bytes);
    asm volatile("" : "+r"(block));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 1);
  std::latch all_hold(count);
  std::vector<std::thread> threads;
  for (long i = 0; i < count; ++i) {
    threads.emplace_back([&all_hold] {
      hold(80, 100'000);
      all_hold.arrive_and_wait();
    });
  }
  hold(1'000, 4'000);
  hold(1, 64U << 20U);
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::_Exit(0);
}
