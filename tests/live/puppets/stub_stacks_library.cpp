#include "tests/live/puppets/messages.h"
#include "tests/live/puppets/stub_stacks.h"

long stub_queue = 0;

extern "C" {

static long add_one(long number) {
  return number + 1;
}

[[gnu::used]] static decltype(&add_one) choose_function() {
  const Message message;
  send_message(stub_queue, message);
  return add_one;
}

long bound_late(long number) __attribute__((ifunc("choose_function")));

long called_by_stub(long number) {
  return number - 1;
}
}
