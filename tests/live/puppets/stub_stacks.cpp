// Calls that lead through code which no compiler made:
//   stub_stacks vdso N   N page faults in the vdso, which writes the time to N fresh pages
//   stub_stacks plt N    N page faults on the linkage table's code, taken away before each call
//   stub_stacks lazy 1   a message sent by a function that the dynamic linker calls while it binds
// Built without frame pointers and position dependent, bound lazily: the address of a library's
// function is then its entry in the linkage table (System V ABI, AMD64 supplement, 5.2).
#include "tests/live/puppets/stub_stacks.h"

#include <sys/mman.h>

#include <cstdint>
#include <ctime>
#include <string_view>

#include "tests/live/puppets/messages.h"

namespace {

constexpr std::uintptr_t kPageBytes = 4096;

[[gnu::noinline]] void read_clock_into(char* page) {
  // The coarse clock never needs a system call, whatever the machine's clock is.
  checked(clock_gettime(CLOCK_MONOTONIC_COARSE, reinterpret_cast<timespec*>(page)), "clock");
}

void read_clocks(long count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * kPageBytes;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    give_up("mmap", errno);
  }
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (long i = 0; i < count; ++i) {
    read_clock_into(static_cast<char*>(memory) + i * static_cast<long>(kPageBytes));
  }
}

// On a page of its own: the linkage table's is not there when it calls.
[[gnu::noinline, gnu::aligned(4096)]] long call_through_stub(long number) {
  const auto stub = reinterpret_cast<std::uintptr_t>(&called_by_stub);
  inline_syscall(SYS_madvise,
                 {static_cast<long>(stub / kPageBytes * kPageBytes),
                  static_cast<long>(kPageBytes),
                  MADV_DONTNEED});
  return called_by_stub(number) + 1;
}

[[gnu::noinline]] long call_first_time() {
  return bound_late(1) + 1;
}

}  // namespace

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 2);
  const std::string_view kind = argv[1];
  long sum = 0;
  if (kind == "vdso") {
    read_clocks(count);
  } else if (kind == "plt") {
    for (long i = 0; i < count; ++i) {
      sum += call_through_stub(i);
    }
  } else {
    stub_queue = make_queue();
    sum = call_first_time();
    remove_queue(stub_queue);
  }
  return sum < 0 ? 1 : 0;
}
