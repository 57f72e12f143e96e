// many_kmallocs N: sends and receives N messages of 1000 bytes in send_messages().
//
// msgsnd(2) is one kmalloc for each message: load_msg -> alloc_msg (ipc/msgutil.c; alloc_msg is
// inlined, so call_site is in load_msg) asks for sizeof(struct msg_msg) + 1000 = 48 + 1000 = 1048
// bytes and gets 2048 (kmalloc-2k, or a bucket of that size where CONFIG_SLAB_BUCKETS). msgrcv(2)
// is one kfree of it in free_msg. Checked on 6.18 with perf 6.1:
//   perf stat -e kmem:kmalloc --filter 'bytes_req == 1048' -- many_kmallocs 1000
// counts 1000 (20000 for 20000), and perf record sees as many, all bytes_alloc=2048, all with the
// stack load_msg <- do_msgsnd <- ... <- send_messages <- main. Nothing else in the program asks for
// 1048 bytes. kmem:kfree counts two for each message: free_msg's, and one of a null pointer
// (ptr=(nil)) in security_msg_msg_free, as no security module keeps data for messages here.
#include <unistd.h>

#include "tests/live/puppets/messages.h"

[[gnu::noinline]] void send_messages(long queue, long count) {
  Message message;
  for (long sent = 0; sent < count; ++sent) {
    send_message(queue, message);
    receive_message(queue, message);
  }
}

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 1);
  const long queue = make_queue();
  send_messages(queue, count);
  remove_queue(queue);
  std::printf("pid %d kmallocs %ld bytes_req 1048 bytes_alloc 2048 kfrees %ld\n",
              static_cast<int>(getpid()),
              count,
              count);
  return 0;
}
