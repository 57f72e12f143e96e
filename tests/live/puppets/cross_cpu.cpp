// cross_cpu N: sends N messages of 1000 bytes on one CPU and receives each on another.
//
// Kernel: as many_kmallocs, N kmallocs of 1048 bytes, whose kfree in free_msg (ipc/msgutil.c)
// happens on the receiver's CPU: all of them are what perf kmem calls ping-pong. Checked on 6.18
// with perf 6.1: for N = 300, perf kmem --slab --caller stat has 300 in load_msg's line.
#include <sched.h>

#include "tests/live/puppets/messages.h"

static void move_to(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0) {
    give_up("sched_setaffinity", errno);
  }
}

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 1);
  const long queue = make_queue();
  Message message;
  for (long sent = 0; sent < count; ++sent) {
    move_to(0);
    send_message(queue, message);
    move_to(1);
    receive_message(queue, message);
  }
  remove_queue(queue);
  return 0;
}
