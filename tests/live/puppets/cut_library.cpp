// cut_library FILE: loads the library, lets it call malloc(3) once, waits, cuts the file behind its
// code, and lets ten functions of it call malloc(3). The kernel has no part in it.
#include "cut_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  constexpr off_t kCodeEnd = 8192;  // GNU ld: headers, code, and only then .eh_frame, by pages
  void* library = argc < 2 ? nullptr : dlopen(argv[1], RTLD_NOW);
  auto* fill =
      library == nullptr ? nullptr : reinterpret_cast<FillCalls*>(dlsym(library, "fill_calls"));
  if (fill == nullptr) {
    std::fprintf(stderr, "cut_library FILE\n");
    return 3;
  }
  CallInFrame* calls[kFrames];
  fill(calls);  // the table of addresses may lie in what is cut off
  calls[0](std::malloc);
  ::usleep(1'000'000);
  if (::truncate(argv[1], kCodeEnd) != 0) {
    return 4;
  }
  for (CallInFrame* call : calls) {
    call(std::malloc);
  }
  ::usleep(1'000'000);
  ::_exit(0);  // what exit(3) runs in the library is cut off
}
