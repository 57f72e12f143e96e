// deep_frames N [FILE]: N times 40 known frames down to msgsnd, built -O2 -fomit-frame-pointer, and
// with FILE removes that file first: its own, to be a program that is deleted while it runs, which
// stays for a second so that it can be looked at. Also built as static PIE, and with the frames in
// a library that is loaded with dlopen: deep_loader.
//
// Kernel: as many_kmallocs, one kmalloc of 1048 bytes for each message. Checked with gdb 13: a
// breakpoint on msgsnd shows frame<1> to frame<40> and what stands between.
#include "tests/live/puppets/deep_frames.h"

#include <unistd.h>

#include "tests/live/puppets/messages.h"

#ifdef DEEP_FRAMES_LIBRARY

#include <dlfcn.h>

static decltype(&call_deep_frames) find_frames() {
  void* library = dlopen(DEEP_FRAMES_LIBRARY, RTLD_NOW);
  void* found = library == nullptr ? nullptr : dlsym(library, "call_deep_frames");
  if (found == nullptr) {
    give_up("dlopen(" DEEP_FRAMES_LIBRARY ")", ENOENT);
  }
  return reinterpret_cast<decltype(&call_deep_frames)>(found);
}

#else

static decltype(&call_deep_frames) find_frames() {
  return call_deep_frames;
}

#endif

int main(int argc, char** argv) {
  const long count = count_argument(argc, argv, 1);
  const long queue = make_queue();
  if (argc > 2) {
    checked(unlink(argv[2]) == 0 ? 0 : -errno, "unlink");
  }
  const auto call = find_frames();
  for (long i = 0; i < count; ++i) {
    call(static_cast<int>(queue));
  }
  remove_queue(queue);
  if (argc > 2) {
    sleep(1);
  }
  return 0;
}
