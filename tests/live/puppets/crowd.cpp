// crowd N: when it reads a line, five tasks send N messages each: the main thread, two threads that
// were waiting since before, a thread that is started then, and a child process.
//
// Kernel: as many_kmallocs, 5 N kmallocs of 1048 bytes, N of them by each task. It prints its pid
// when all threads wait, so that a tracer can attach in between: -p sees all five, -t of the main
// thread its own N.
#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <thread>

#include "tests/live/puppets/messages.h"

[[gnu::noinline]] void send_messages(long count) {
  const long queue = make_queue();
  Message message;
  for (long sent = 0; sent < count; ++sent) {
    send_message(queue, message);
    receive_message(queue, message);
  }
  remove_queue(queue);
}

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 1);
  std::latch waiting(2);
  std::latch go(1);
  const auto send_later = [&] {
    waiting.count_down();
    go.wait();
    send_messages(count);
  };
  std::thread first(send_later);
  std::thread second(send_later);
  waiting.wait();
  std::printf("%d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  std::getchar();
  go.count_down();
  std::thread late([count] { send_messages(count); });
  const pid_t child = fork();
  if (child == 0) {
    send_messages(count);
    _exit(0);
  }
  send_messages(count);
  waitpid(child, nullptr, 0);
  for (std::thread* thread : {&first, &second, &late}) {
    thread->join();
  }
  return 0;
}
