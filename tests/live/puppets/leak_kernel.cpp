// leak_kernel N [SECONDS]: ends with N messages of 1000 bytes still queued, sent in
// leave_messages(); before, it sent and received N others in pass_messages(), which are no leaks.
// A child frees them and ends SECONDS later (3 when not said), so that nothing stays on the
// machine.
//
// Kernel: as many_kmallocs; until the child frees them, N of the 2 N kmallocs of 1048 bytes have no
// kfree. A queue takes 16 of these messages (kernel.msgmnb is 16384 bytes, and raising a queue's
// own limit needs CAP_SYS_RESOURCE, which root in a container may lack), so there are N/16 queues.
#include <unistd.h>

#include <vector>

#include "tests/live/puppets/messages.h"

constexpr long kMessagesInQueue = 16;

[[gnu::noinline]] void leave_messages(const std::vector<long>& queues, long count) {
  const Message message;
  for (long sent = 0; sent < count; ++sent) {
    send_message(queues[static_cast<std::size_t>(sent / kMessagesInQueue)], message);
  }
}

[[gnu::noinline]] void pass_messages(long queue, long count) {
  Message message;
  for (long sent = 0; sent < count; ++sent) {
    send_message(queue, message);
    receive_message(queue, message);
  }
}

std::vector<long> make_queues(long count) {
  std::vector<long> queues;
  for (long made = 0; made < count; ++made) {
    queues.push_back(make_queue());
  }
  return queues;
}

// The child closes its outputs, so that their reader does not wait for it.
void free_later(const std::vector<long>& queues, unsigned seconds) {
  if (fork() != 0) {
    return;
  }
  for (int standard = 0; standard < 3; ++standard) {
    close(standard);
  }
  sleep(seconds);
  for (const long queue : queues) {
    remove_queue(queue);
  }
  _exit(0);
}

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 1);
  const long seconds = argc > 2 ? count_argument(argc, argv, 2) : 3;
  const std::vector<long> queues = make_queues(count / kMessagesInQueue + 1);
  pass_messages(queues.front(), count);
  leave_messages(queues, count);
  free_later(queues, static_cast<unsigned>(seconds));
  std::printf("pid %d kmallocs %ld kfrees %ld left %ld bytes_left %ld\n",
              static_cast<int>(getpid()),
              2 * count,
              count,
              count,
              count * 2048);
  return 0;
}
