// libc_calls N: in store_bytes(), N messages of 1000 bytes through libc's msgsnd and msgrcv.
//
// Kernel: as many_kmallocs. libc's stubs set up no frame while the process has one thread: at the
// system call the frame-pointer register is still store_bytes's own, so the kernel's walk goes from
// msgsnd to what called store_bytes, main. Checked with perf 6.1 and glibc 2.36: `perf record
// --call-graph fp` shows msgsnd <- main.
#include "tests/live/puppets/messages.h"

[[gnu::noinline]] void store_bytes(int queue, long count) {
  Message message;
  for (long sent = 0; sent < count; ++sent) {
    checked(msgsnd(queue, &message, kTextBytes, IPC_NOWAIT), "msgsnd");
    checked(msgrcv(queue, &message, kTextBytes, 0, IPC_NOWAIT), "msgrcv");
  }
}

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 1);
  const long queue = make_queue();
  store_bytes(static_cast<int>(queue), count);
  remove_queue(queue);
  return 0;
}
