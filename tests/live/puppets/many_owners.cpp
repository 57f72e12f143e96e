// many_owners N FOLDER: N processes that live for 20 ms, eight at a time, each in a cgroup of its
// own below FOLDER, FOLDER/oI, and of a user of its own, 100000 + I.
//
// Each sends one message before anything changes, as root in its parent's cgroup, and two after
// both have changed; kernel: as many_kmallocs. Every second is moved by its parent, as container
// runtimes do, the others move themselves; setuid(2), setreuid(2) and setresuid(2) take turns, and
// every fourth executes itself before the two messages.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "tests/live/puppets/messages.h"

namespace {

constexpr long kAtOnce = 8;
constexpr uid_t kFirstUser = 100000;

void move(const std::string& folder, pid_t pid) {
  std::FILE* procs = std::fopen((folder + "/cgroup.procs").c_str(), "w");
  if (procs == nullptr || std::fprintf(procs, "%d", static_cast<int>(pid)) < 0 ||
      std::fclose(procs) != 0) {
    give_up("moving into a cgroup", errno);
  }
}

void become(long index) {
  const uid_t uid = kFirstUser + static_cast<uid_t>(index);
  const int changed = index % 3 == 0   ? setuid(uid)
                      : index % 3 == 1 ? setreuid(uid, uid)
                                       : setresuid(uid, uid, uid);
  if (changed != 0) {
    give_up("setuid", errno);
  }
}

[[noreturn]] void work_and_end() {
  send_some(2);
  usleep(5000);
  _exit(0);
}

void tell(int socket) {
  if (write(socket, "", 1) != 1) {
    give_up("write", errno);
  }
}

void wait_for(int socket) {
  char byte = 0;
  if (read(socket, &byte, 1) != 1) {
    give_up("read", errno);
  }
}

[[noreturn]] void run(const char* program, long index, const std::string& folder, int parent) {
  send_some(1);
  if (index % 2 == 0) {
    move(folder, getpid());
  } else {
    tell(parent);
    wait_for(parent);
  }
  become(index);
  usleep(10000);
  if (index % 4 >= 2) {
    execl(program, program, "work", nullptr);
    give_up("execl", errno);
  }
  work_and_end();
}

pid_t start(const char* program, long index, const std::string& folder) {
  if (mkdir(folder.c_str(), 0755) != 0) {
    give_up("mkdir", errno);
  }
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    give_up("socketpair", errno);
  }
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    run(program, index, folder, ends[0]);
  }
  close(ends[0]);
  if (index % 2 != 0) {
    wait_for(ends[1]);
    move(folder, child);
    tell(ends[1]);
  }
  close(ends[1]);
  return child;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "work") {
    work_and_end();
  }
  const long count = count_argument(argc, argv, 1);
  const std::string parent = argc > 2 ? argv[2] : "";
  for (long first = 0; first < count; first += kAtOnce) {
    const long limit = first + kAtOnce < count ? first + kAtOnce : count;
    for (long i = first; i < limit; ++i) {
      start(argv[0], i, parent + "/o" + std::to_string(i));
    }
    int failed = 0;
    for (long i = first; i < limit; ++i) {
      int status = 0;
      wait(&status);
      failed |= status;
    }
    if (failed != 0) {
      give_up("a child", EINVAL);
    }
    for (long i = first; i < limit; ++i) {
      // What has just ended may still be on its way out.
      for (int tries = 0; rmdir((parent + "/o" + std::to_string(i)).c_str()) != 0 && tries < 500;
           ++tries) {
        usleep(1000);
      }
    }
  }
  return 0;
}
