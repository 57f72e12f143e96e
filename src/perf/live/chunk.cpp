#include "perf/live/chunk.h"

#include <sys/mman.h>

#include <new>

namespace memtrace {

ChunkMemory::ChunkMemory() {
  auto mapping = Mapping::map(
      {.size_bytes = kBytes, .prot = PROT_READ | PROT_WRITE, .flags = MAP_PRIVATE | MAP_ANONYMOUS});
  if (!mapping.ok()) {
    throw std::bad_alloc();
  }
  mapping_ = mapping.take();
}

}  // namespace memtrace
