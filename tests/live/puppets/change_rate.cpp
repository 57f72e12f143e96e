// change_rate N MS: sends and receives N messages each millisecond (many_kmallocs.cpp), then ten
// times as many, then N again; each for MS milliseconds. Prints how many it sent.
#include <chrono>
#include <thread>

#include "tests/live/puppets/messages.h"

namespace {

long send_for(long queue, long per_ms, long ms) {
  using Clock = std::chrono::steady_clock;
  Message message;
  long sent = 0;
  const auto start = Clock::now();
  for (long step = 1; step <= ms; ++step) {
    for (long i = 0; i < per_ms; ++i) {
      send_message(queue, message);
      receive_message(queue, message);
    }
    sent += per_ms;
    const auto due = start + std::chrono::milliseconds(step);
    if (Clock::now() > start + std::chrono::milliseconds(ms)) {
      break;  // a busy machine
    }
    std::this_thread::sleep_until(due);
  }
  return sent;
}

}  // namespace

int main(int argc, char** argv) {
  const long per_ms = count_argument(argc, argv, 1);
  const long ms = count_argument(argc, argv, 2);
  const long queue = make_queue();
  const long sent =
      send_for(queue, per_ms, ms) + send_for(queue, 10 * per_ms, ms) + send_for(queue, per_ms, ms);
  remove_queue(queue);
  std::printf("kmallocs %ld\n", sent);
  return 0;
}
