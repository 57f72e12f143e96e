// An allocator that memtrace does not know, in a library: it hands out pieces of one array.
#include <cstddef>

extern "C" {

[[gnu::noinline]] void* pool_take(std::size_t size_bytes) {
  alignas(64) static char pool[1 << 20];
  static std::size_t used_bytes = 0;
  void* piece = pool + used_bytes;
  used_bytes += (size_bytes + 63) / 64 * 64;
  return used_bytes <= sizeof(pool) ? piece : nullptr;
}

[[gnu::noinline]] void pool_give(void* piece) {
  asm volatile("" : : "r"(piece) : "memory");
}
}
