// three_sites CALLS: allocates CALLS times, with some microseconds of work before each: 6 of 10
// blocks of 100 bytes in the first place, 3 of 200 in the second, both freed at once; and 1 of 300
// in the third, of which one in ten is not freed.
#include "tests/live/puppets/puppet.h"

namespace {

constexpr long kTurns = 2000;
constexpr long kOfThird = 10;

[[gnu::noinline]] void work_a_little() {
  for (long i = 0; i < kTurns; ++i) {
    asm volatile("" : : : "memory");
  }
}

[[gnu::noinline]] void* keep(void* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

[[gnu::noinline]] void first_site() {
  std::free(keep(std::malloc(100)));
}

[[gnu::noinline]] void second_site() {
  std::free(keep(std::malloc(200)));
}

[[gnu::noinline]] void third_site(bool is_lost) {
  void* block = keep(std::malloc(300));
  std::free(is_lost ? nullptr : block);
}

}  // namespace

int main(int argc, char** argv) {
  const long calls = count_argument(argc, argv, 1);
  for (long i = 0; i < calls; ++i) {
    work_a_little();
    const long place = i % kOfThird;
    if (place < 6) {
      first_site();
    } else if (place < 9) {
      second_site();
    } else {
      third_site(i / kOfThird % kOfThird == 0);
    }
  }
  return 0;
}
