// Messages of 1000 bytes through a System V queue: a kmalloc of known size for each, see
// many_kmallocs.cpp.
#pragma once

#include <sys/ipc.h>
#include <sys/msg.h>

#include <array>

#include "tests/live/puppets/puppet.h"
#include "tools/inline_syscall.h"

struct Message {
  long type = 1;
  std::array<char, 1000> text{};
};

inline constexpr long kTextBytes = sizeof(Message::text);

inline long make_queue() {
  return checked(inline_syscall(SYS_msgget, {IPC_PRIVATE, IPC_CREAT | 0600}), "msgget");
}

inline void remove_queue(long queue) {
  msgctl(static_cast<int>(queue), IPC_RMID, nullptr);
}

inline void send_message(long queue, const Message& message) {
  checked(inline_syscall(SYS_msgsnd, {queue, as_argument(&message), kTextBytes, IPC_NOWAIT}),
          "msgsnd");
}

inline void receive_message(long queue, Message& message) {
  checked(inline_syscall(SYS_msgrcv, {queue, as_argument(&message), kTextBytes, 0, IPC_NOWAIT}),
          "msgrcv");
}

// Sends messages to itself, one after the other.
inline void send_some(long count) {
  const long queue = make_queue();
  Message message;
  for (long sent = 0; sent < count; ++sent) {
    send_message(queue, message);
    receive_message(queue, message);
  }
  remove_queue(queue);
}
