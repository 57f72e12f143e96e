// live_files FILES SECONDS [DEPTH]: holds FILES open files, of some objects of the kernel each, and
// replaces one of them 5,000 times a second, each by another one of 2^DEPTH stacks.
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "many_ways.h"

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  const std::time_t end = std::time(nullptr) + (argc > 2 ? std::atoi(argv[2]) : 5);
  const unsigned long depth = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0;
  const rlimit enough{count + 16, count + 16};
  if (::setrlimit(RLIMIT_NOFILE, &enough) != 0) {
    std::perror("live_files: setrlimit");
    return 1;
  }
  std::vector<int> files(count, -1);
  unsigned long way = 0;
  std::size_t next = 0;
  while (std::time(nullptr) < end) {
    for (int i = 0; i < 50; ++i) {
      if (files[next] >= 0) {
        ::close(files[next]);
      }
      files[next] = many_ways::go(way++, depth, [] { return ::eventfd(0, EFD_CLOEXEC); });
      next = (next + 1) % count;
    }
    ::usleep(10'000);
  }
  return 0;
}
