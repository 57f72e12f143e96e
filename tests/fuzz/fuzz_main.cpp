// All fuzz targets in one program, which libFuzzer's main() drives: it is linked once, and which
// target it runs is in the name that it is called by, fuzz_NAME.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "fuzz/fuzz_target.h"

namespace memtrace::fuzz {
namespace {

// An input that takes longer is a finding: a few kilobytes that cost a second cost an hour when
// they are a few megabytes. Time of the processor, so that a busy machine finds nothing that is not
// there.
#ifdef __OPTIMIZE__
constexpr time_t kMaxSeconds = 1;
#else
constexpr time_t kMaxSeconds = 3;  // the same in code that is not optimized
#endif

const Target* target_of(std::string_view program) {
  constexpr std::string_view kStart = "fuzz_";
  const std::string_view file = program.substr(program.rfind('/') + 1);
  const auto targets = all_targets();
  const auto found = std::ranges::find_if(targets, [&](const Target& target) {
    return file.starts_with(kStart) && file.substr(kStart.size()) == target.name;
  });
  return found == targets.end() ? nullptr : &*found;
}

// Ends the program with the stack of what takes so long.
class Clock {
 public:
  Clock() {
    sigevent notice{};
    notice.sigev_notify = SIGEV_SIGNAL;
    notice.sigev_signo = SIGXCPU;
    ::signal(SIGXCPU, [](int) {
      constexpr std::string_view kMessage = "fuzz: the input took too much CPU time\n";
      std::fwrite(kMessage.data(), 1, kMessage.size(), stderr);
      std::abort();
    });
    if (::timer_create(CLOCK_PROCESS_CPUTIME_ID, &notice, &timer_) != 0) {
      std::perror("fuzz: timer_create");
      std::exit(2);
    }
  }

  void set(time_t seconds) const {
    const itimerspec time{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_nsec = 0}};
    ::timer_settime(timer_, 0, &time, nullptr);
  }

 private:
  timer_t timer_{};
};

// A recording that does not say which kernel it is of has its functions named by the running one.
// That one's 5 MB of names are no part of the input, and would take most of the time.
void hide_own_kernel() {
  const bool is_apart = ::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
  if (!is_apart || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("/dev/null", "/proc/kallsyms", nullptr, MS_BIND, nullptr) != 0) {
    std::perror("fuzz: /proc/kallsyms is not hidden and will be read");
  }
}

const Target* chosen = nullptr;

}  // namespace
}  // namespace memtrace::fuzz

// What the sanitizers' run-time libraries ask a program when it starts. Freed memory is kept back
// for a while, but not 256 MB of it, which would count for libFuzzer's limit. Reading behind the
// end of a file raises SIGBUS, which os/foreign_file.h handles.
extern "C" const char* __asan_default_options() {
  return "handle_sigbus=0:quarantine_size_mb=8:handle_abort=1:allocator_may_return_null=1";
}

// libtraceevent 1.7.1 forgets a word or two of a text that it cannot parse.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libtraceevent.so\n";
}

extern "C" const char* __ubsan_default_options() {
  return "print_stacktrace=1";
}

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  using memtrace::fuzz::all_targets;
  memtrace::fuzz::chosen = memtrace::fuzz::target_of(*count > 0 ? **arguments : "");
  if (memtrace::fuzz::chosen == nullptr) {
    std::fprintf(stderr, "fuzz: call this program by the name of a target:");
    for (const auto& target : all_targets()) {
      std::fprintf(stderr, " fuzz_%s", target.name.data());
    }
    std::fprintf(stderr, "\n");
    std::exit(2);
  }
  memtrace::fuzz::hide_own_kernel();
  memtrace::fuzz::chosen->run({});  // what a target does once is no part of an input's time
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  static const memtrace::fuzz::Clock clock;
  // A copy of its own, as aligned as a record in a ring, so that one byte too far is seen.
  const std::vector<std::byte> input(reinterpret_cast<const std::byte*>(data),
                                     reinterpret_cast<const std::byte*>(data) + size_bytes);
  clock.set(memtrace::fuzz::kMaxSeconds);
  memtrace::fuzz::chosen->run(input);
  clock.set(0);
  return 0;
}
