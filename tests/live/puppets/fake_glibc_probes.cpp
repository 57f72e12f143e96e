// The probes libc:memory_* with arguments of the forms that glibc's build makes of its own: in
// registers (arena_new), behind one (heap_new's h->size), constants, and fields of a global that is
// found by the program counter (mp_). Nothing is allocated: the caller says what to tell.
#include "tests/live/puppets/fake_glibc_probes.h"

#include <sys/sdt.h>

namespace {

// As the beginning of glibc's heap_info and malloc_par.
struct HeapInfo {
  char* arena;
  HeapInfo* before;
  std::size_t bytes;
};

struct Parameters {
  std::size_t trim_threshold;
  std::size_t top_pad;
  std::size_t mmap_threshold;
};

Parameters mp_{128U << 10U, 128U << 10U, 128U << 10U};

}  // namespace

[[gnu::noinline]] void play_arena(char* heap, std::size_t heap_bytes, char* arena) {
  HeapInfo info{arena, nullptr, heap_bytes};
  HeapInfo* h = &info;
  asm volatile("" : "+r"(h) : : "memory");
  STAP_PROBE2(libc, memory_heap_new, heap, h->bytes);
  STAP_PROBE2(libc, memory_arena_new, arena, 2200);
}

[[gnu::noinline]] void play_heap_growth(char* heap, std::size_t heap_bytes) {
  STAP_PROBE2(libc, memory_heap_more, heap, heap_bytes * 2);
  STAP_PROBE2(libc, memory_heap_less, heap, heap_bytes);
}

[[gnu::noinline]] void play_heap_end(char* heap, std::size_t heap_bytes) {
  STAP_PROBE2(libc, memory_heap_free, heap, heap_bytes);
}

[[gnu::noinline]] void play_wait(char* arena) {
  STAP_PROBE3(libc, memory_arena_reuse_wait, arena + 8, arena, 0);
  STAP_PROBE2(libc, memory_arena_reuse, arena, 0);
}

[[gnu::noinline]] void play_sbrk(char* top, std::size_t bytes) {
  STAP_PROBE2(libc, memory_sbrk_more, top, bytes);
  STAP_PROBE2(libc, memory_sbrk_less, top, bytes / 4);
}

[[gnu::noinline]] void play_thresholds(std::size_t mmap_bytes, std::size_t trim_bytes) {
  mp_.mmap_threshold = mmap_bytes;
  mp_.trim_threshold = trim_bytes;
  asm volatile("" : : : "memory");
  STAP_PROBE2(libc, memory_mallopt_free_dyn_thresholds, mp_.mmap_threshold, mp_.trim_threshold);
}
