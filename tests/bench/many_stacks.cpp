// many_stacks DEPTH CALLS: CALLS allocations, each of another stack as long as there are any: of
// 2^DEPTH ways through DEPTH frames of two functions.
#include <cstdlib>

namespace {

void* take(unsigned long way, unsigned long depth);

[[gnu::noinline]] void* left(unsigned long way, unsigned long depth) {
  void* block = take(way, depth);
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

[[gnu::noinline]] void* right(unsigned long way, unsigned long depth) {
  void* block = take(way, depth);
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

void* take(unsigned long way, unsigned long depth) {
  if (depth == 0) {
    return std::malloc(64);
  }
  // One call after the other differs in its innermost frames, as in most programs.
  return (way >> (depth - 1) & 1) != 0 ? left(way, depth - 1) : right(way, depth - 1);
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long depth = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10;
  const unsigned long calls = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1000;
  for (unsigned long way = 0; way < calls; ++way) {
    std::free(take(way, depth));
  }
  return 0;
}
