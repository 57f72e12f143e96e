// heap_costs: a heap that grows to a peak, shrinks, leaks, and has temporary blocks and a chain of
// reallocations: what heaptrack measures, too. 1,599 allocations; 1,499,500 bytes at the peak; 100
// blocks of 194,950 bytes are left; 599 are temporary.
#include <array>

#include "tests/live/puppets/puppet.h"

namespace {

void* keep(void* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

std::array<void*, 1000> blocks;

[[gnu::noinline]] void grow() {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i] = keep(std::malloc(1000 + i));
  }
}

[[gnu::noinline]] void shrink() {
  for (std::size_t i = 0; i < 900; ++i) {
    std::free(blocks[i]);
  }
}

[[gnu::noinline]] void use_briefly() {
  for (int i = 0; i < 500; ++i) {
    std::free(keep(std::malloc(77)));
  }
}

[[gnu::noinline]] void resize() {
  void* block = nullptr;
  for (std::size_t i = 1; i < 100; ++i) {
    block = keep(std::realloc(block, i * 100));
  }
  std::free(block);
}

}  // namespace

int main() {
  grow();
  shrink();
  use_briefly();
  resize();
  return 0;
}
