// ping_pong SECONDS: two processes on one CPU wake each other through a pair of sockets. Each round
// trip is two context switches, which `perf stat -e context-switches` confirms, and no page fault.
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "puppet.h"

int main(int argc, char** argv) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(count_argument(argc, argv, 1));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  checked(::sched_setaffinity(0, sizeof(one), &one), "sched_setaffinity");
  std::array<int, 2> sockets{};
  checked(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), "socketpair");
  char byte = 0;
  if (checked(::fork(), "fork") == 0) {
    ::close(sockets[0]);
    while (::read(sockets[1], &byte, 1) == 1 && ::write(sockets[1], &byte, 1) == 1) {
    }
    return 0;
  }
  ::close(sockets[1]);
  while (std::chrono::steady_clock::now() < end) {
    if (::write(sockets[0], &byte, 1) != 1 || ::read(sockets[0], &byte, 1) != 1) {
      return 1;
    }
  }
}
