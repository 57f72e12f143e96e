// many_stacks DEPTH CALLS: CALLS allocations, each of another stack as long as there are any: of
// 2^DEPTH ways through DEPTH frames of two functions.
#include <cstdlib>

#include "many_ways.h"

int main(int argc, char** argv) {
  const unsigned long depth = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10;
  const unsigned long calls = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1000;
  for (unsigned long way = 0; way < calls; ++way) {
    std::free(many_ways::go(way, depth, [] { return std::malloc(64); }));
  }
  return 0;
}
