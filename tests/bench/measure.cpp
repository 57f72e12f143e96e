// measure COMMAND...: runs it with its output thrown away and prints one line,
// "wall_ms user_ms system_ms peak_rss_kib peak_anonymous_kib status".
//
// Peak RSS counts the pages of a mapped input file, too, which the kernel takes back when it wants
// them; anonymous memory is what a program really needs. The kernel keeps no peak of it, so
// /proc/PID/status is read each millisecond and a shorter peak is missed.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

// 0 once the process has ended and its memory is gone.
long anonymous_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string word;
  while (status >> word) {
    if (word == "RssAnon:") {
      long kib = 0;
      status >> kib;
      return kib;
    }
  }
  return 0;
}

[[noreturn]] void run(char** command) {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; standard < 3; ++standard) {
    dup2(nowhere, standard);
  }
  execvp(command[0], command);
  _exit(127);
}

long to_ms(const timeval& time) {
  return time.tv_sec * 1000 + time.tv_usec / 1000;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: measure COMMAND...\n");
    return 2;
  }
  const Clock::time_point start = Clock::now();
  const pid_t pid = fork();
  if (pid == 0) {
    run(argv + 1);
  }
  long peak_kib = 0;
  int status = 0;
  rusage usage{};
  while (wait4(pid, &status, WNOHANG, &usage) == 0) {
    peak_kib = std::max(peak_kib, anonymous_kib(pid));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto wall_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::printf("%ld %ld %ld %ld %ld %d\n",
              static_cast<long>(wall_ms),
              to_ms(usage.ru_utime),
              to_ms(usage.ru_stime),
              usage.ru_maxrss,
              peak_kib,
              code);
  return 0;
}
