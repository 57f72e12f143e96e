// clone_into N FOLDER: N processes, four at a time, each started in the cgroup FOLDER by clone3(2)
// with CLONE_INTO_CGROUP (Linux 5.7, version 2 only). Their parent stays where it is.
//
// Each calls itself "in_group" and sends kFirst messages at once, and kLater half a second later,
// when everybody could have looked where it is; kernel: as many_kmallocs.
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "tests/live/puppets/messages.h"

namespace {

constexpr long kAtOnce = 4;
constexpr long kFirst = 5;
constexpr long kLater = 20;
// include/uapi/linux/sched.h; Debian's headers know it, older ones do not.
constexpr unsigned long long kCloneIntoCgroup = 0x200000000;

// The whole of struct clone_args since 5.7.
struct CloneInto {
  unsigned long long flags = kCloneIntoCgroup;
  unsigned long long pidfd = 0;
  unsigned long long child_tid = 0;
  unsigned long long parent_tid = 0;
  unsigned long long exit_signal = SIGCHLD;
  unsigned long long stack = 0;
  unsigned long long stack_size = 0;
  unsigned long long tls = 0;
  unsigned long long set_tid = 0;
  unsigned long long set_tid_size = 0;
  unsigned long long cgroup = 0;
};

[[noreturn]] void run() {
  prctl(PR_SET_NAME, "in_group");
  send_some(kFirst);
  usleep(500000);
  send_some(kLater);
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 1);
  const int folder = open(argc > 2 ? argv[2] : "", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    give_up("open", errno);
  }
  for (long first = 0; first < count; first += kAtOnce) {
    for (long i = first; i < std::min(first + kAtOnce, count); ++i) {
      CloneInto arguments;
      arguments.cgroup = static_cast<unsigned long long>(folder);
      const long pid = syscall(SYS_clone3, &arguments, sizeof(arguments));
      if (pid < 0) {
        give_up("clone3", errno);
      }
      if (pid == 0) {
        run();
      }
    }
    while (wait(nullptr) > 0) {
    }
  }
  return 0;
}
