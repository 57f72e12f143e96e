// write_word COUNT: writes so often to the word `watched`, in write_each(). It is linked at fixed
// addresses, so that nm(1) shows where the word will be.
#include "tests/live/puppets/puppet.h"

volatile long watched = 1;  // not 0: the kernel clears what begins as zeros

[[gnu::noinline]] void write_each(long count) {
  for (long i = 0; i < count; ++i) {
    watched = i;
  }
}

int main(int argc, char** argv) {
  write_each(count_argument(argc, argv, 1));
  return 0;
}
