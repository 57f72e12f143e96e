// sdt_semaphore COUNT [PAUSE]: a static probe memtrace_puppet:step with arguments 3 * i and -i,
// which is passed only while its semaphore is raised (<sys/sdt.h>). Prints how often it was; with
// PAUSE also what the semaphore is, and waits for a line of its input, before and after.
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include <cstdio>
#include <cstdlib>

extern "C" {
[[gnu::section(".probes")]] unsigned short memtrace_puppet_step_semaphore = 0;
}

namespace {

volatile unsigned short* const kSemaphore = &memtrace_puppet_step_semaphore;

void tell_and_wait() {
  std::printf("semaphore %u\n", static_cast<unsigned>(*kSemaphore));
  std::fflush(stdout);
  (void)std::getchar();
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1;
  const bool pauses = argc > 2;
  if (pauses) {
    tell_and_wait();
  }
  long passed = 0;
  for (long i = 0; i < count; ++i) {
    if (*kSemaphore != 0) {
      ++passed;
      STAP_PROBE2(memtrace_puppet, step, 3 * i, -i);
    }
  }
  std::printf("passed %ld\n", passed);
  if (pauses) {
    tell_and_wait();
    std::printf("semaphore %u\n", static_cast<unsigned>(*kSemaphore));
  }
  return 0;
}
