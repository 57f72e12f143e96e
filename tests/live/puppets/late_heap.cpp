// late_heap FILE ALLOC FREE: loads a library with dlopen(3), waits, and calls its functions: 40
// blocks of 1,000 to 1,039 bytes, of which the first 30 are freed again. Without a library it calls
// malloc(3) and free(3), after the same pause. The kernel has no part in it.
#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

using Take = void* (*)(std::size_t);
using Give = void (*)(void*);

constexpr std::size_t kBlocks = 40;
constexpr std::size_t kFreed = 30;
constexpr useconds_t kPauseMicroseconds = 1'500'000;

[[gnu::noinline]] void use_late_heap(Take take, Give give) {
  void* blocks[kBlocks];
  for (std::size_t i = 0; i < kBlocks; ++i) {
    blocks[i] = take(1000 + i);
    asm volatile("" : "+r"(blocks[i]) : : "memory");
  }
  for (std::size_t i = 0; i < kFreed; ++i) {
    give(blocks[i]);
  }
}

}  // namespace

int main([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
  Take take = std::malloc;
  Give give = std::free;
#ifndef STATIC_PUPPET
  void* library = argc < 4 ? nullptr : dlopen(argv[1], RTLD_NOW);
  if (argc >= 4 && library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  if (library != nullptr) {
    take = reinterpret_cast<Take>(dlsym(library, argv[2]));
    give = reinterpret_cast<Give>(dlsym(library, argv[3]));
  }
#endif
  ::usleep(kPauseMicroseconds);
  use_late_heap(take, give);
  return take == nullptr || give == nullptr ? 4 : 0;
}
