// load_in_storm N M: at a line on its input, it takes a new name N times and then loads a library;
// at a second line it calls M times the 40 known frames of that library (see deep_frames.cpp), and
// stays until its input ends.
//
// Kernel: a record of the name for each prctl(2) (fs/exec.c, __set_task_comm; 64 bytes), which fill
// a ring that nobody empties to less than the record of a mapping needs. It stays on one CPU, so
// that this is one ring.
#include <dlfcn.h>
#include <sched.h>
#include <sys/prctl.h>

#include "tests/live/puppets/deep_frames.h"
#include "tests/live/puppets/messages.h"

namespace {

void stay_here() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(sched_getcpu(), &cpus);
  if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0) {
    give_up("sched_setaffinity", errno);
  }
}

void tell(const char* word) {
  std::printf("%s\n", word);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const long names = count_argument(argc, argv, 1);
  const long count = count_argument(argc, argv, 2);
  const long queue = make_queue();
  stay_here();
  tell("ready");
  std::getchar();
  for (long i = 0; i < names; ++i) {
    prctl(PR_SET_NAME, i % 2 == 0 ? "storm_one" : "storm_two");
  }
  void* const library = dlopen(DEEP_FRAMES_LIBRARY, RTLD_NOW);
  void* const found = library == nullptr ? nullptr : dlsym(library, "call_deep_frames");
  if (found == nullptr) {
    give_up("dlopen(" DEEP_FRAMES_LIBRARY ")", ENOENT);
  }
  tell("loaded");
  std::getchar();
  const auto call = reinterpret_cast<decltype(&call_deep_frames)>(found);
  for (long i = 0; i < count; ++i) {
    call(static_cast<int>(queue));
  }
  remove_queue(queue);
  while (std::getchar() != EOF) {
  }
  return 0;
}
