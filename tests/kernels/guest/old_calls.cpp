// old_calls PROGRAM ARGUMENT...: runs a program whose C library is newer than the kernel. glibc
// from 2.33 on asks newfstatat(fd, "", ..., AT_EMPTY_PATH) where it asked fstat(fd, ...) before;
// Linux before 2.6.39 does not know the flag. Each such call is made the older one. Children of the
// program are not followed.
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace {

// At the begin of a call; returns what to put back at its end, as the kernel keeps registers.
bool make_older(pid_t child, user_regs_struct& before) {
  user_regs_struct registers{};
  ptrace(PTRACE_GETREGS, child, nullptr, &registers);
  if (registers.orig_rax != SYS_newfstatat || (registers.r10 & AT_EMPTY_PATH) == 0) {
    return false;
  }
  before = registers;
  registers.orig_rax = SYS_fstat;
  registers.rsi = registers.rdx;
  ptrace(PTRACE_SETREGS, child, nullptr, &registers);
  return true;
}

void put_back(pid_t child, const user_regs_struct& before) {
  user_regs_struct registers{};
  ptrace(PTRACE_GETREGS, child, nullptr, &registers);
  registers.rsi = before.rsi;
  ptrace(PTRACE_SETREGS, child, nullptr, &registers);
}

int follow(pid_t child) {
  user_regs_struct before{};
  bool in_call = false;
  bool is_changed = false;
  int status = 0;
  int signal = 0;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD);
  while (ptrace(PTRACE_SYSCALL, child, nullptr, signal) == 0 &&
         waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    signal = WSTOPSIG(status);
    if (signal != (SIGTRAP | 0x80)) {
      signal = signal == SIGTRAP ? 0 : signal;  // of execve(2)
      continue;
    }
    signal = 0;
    in_call = !in_call;
    if (in_call) {
      is_changed = make_older(child, before);
    } else if (is_changed) {
      put_back(child, before);
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: old_calls PROGRAM ARGUMENT...\n");
    return 2;
  }
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  return child < 0 ? 1 : follow(child);
}
