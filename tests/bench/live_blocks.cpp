// live_blocks BLOCKS SECONDS: holds BLOCKS blocks and replaces one of them 20,000 times a second.
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <vector>

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  const std::time_t end = std::time(nullptr) + (argc > 2 ? std::atoi(argv[2]) : 5);
  std::vector<void*> blocks(count);
  std::size_t next = 0;
  while (std::time(nullptr) < end) {
    for (int i = 0; i < 200; ++i) {
      std::free(blocks[next]);
      blocks[next] = std::malloc(16 + next % 1000);
      next = (next + 1) % count;
    }
    ::usleep(10'000);
  }
  return 0;
}
