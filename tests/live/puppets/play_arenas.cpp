// play_arenas N: reports by glibc's probes that N threads make an arena of two heaps each, wait for
// the first one's N times each, and free their second heap; that sbrk took 64 KiB and gave back 16;
// and that free moved the thresholds to 256 and 512 KiB. The addresses are made up.
#include <thread>
#include <vector>

#include "tests/live/puppets/fake_glibc_probes.h"
#include "tests/live/puppets/puppet.h"

namespace {

constexpr std::size_t kHeapBytes = 64U << 20U;
constexpr std::size_t kFirstBytes = 132U << 10U;

char* heap_at(long index) {
  return reinterpret_cast<char*>((std::size_t{1} << 40U) +
                                 kHeapBytes * static_cast<std::size_t>(index));
}

void play(long index, long count) {
  play_arena(heap_at(2 * index), kFirstBytes, heap_at(2 * index) + 0x30);
  play_heap_growth(heap_at(2 * index), kFirstBytes);
  play_arena(heap_at(2 * index + 1), kFirstBytes, heap_at(2 * index) + 0x30);
  for (long i = 0; i < count; ++i) {
    play_wait(heap_at(0) + 0x30);
  }
  play_heap_end(heap_at(2 * index + 1), kFirstBytes);
}

}  // namespace

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 1);
  for (long i = 0; i < count; ++i) {
    std::thread(play, i, count).join();
  }
  play_sbrk(heap_at(1000), 64U << 10U);
  play_thresholds(256U << 10U, 512U << 10U);
  return 0;
}
