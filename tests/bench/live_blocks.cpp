// live_blocks BLOCKS SECONDS [DEPTH]: holds BLOCKS blocks and replaces one of them 20,000 times a
// second, each by another one of 2^DEPTH stacks.
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <vector>

#include "many_ways.h"

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  const std::time_t end = std::time(nullptr) + (argc > 2 ? std::atoi(argv[2]) : 5);
  const unsigned long depth = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0;
  std::vector<void*> blocks(count);
  unsigned long way = 0;
  std::size_t next = 0;
  while (std::time(nullptr) < end) {
    for (int i = 0; i < 200; ++i) {
      std::free(blocks[next]);
      const std::size_t size = 16 + next % 1000;
      blocks[next] = many_ways::go(way++, depth, [size] { return std::malloc(size); });
      next = (next + 1) % count;
    }
    ::usleep(10'000);
  }
  return 0;
}
