#include "os/own/heap_reserve.h"

#include <malloc.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <vector>

namespace memtrace {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::size_t kPageBytes = 4096;

// NOLINTNEXTLINE(modernize-avoid-c-arrays): not zeroed, and null where there is no memory
using Piece = std::unique_ptr<std::byte[]>;

// One heap: what one thread frees another may have. A block of this size or a larger one is mapped
// by itself and unmapped when it is freed; malloc refuses a larger threshold without a word
// (HEAP_MAX_SIZE / 2, do_set_mmap_threshold() in malloc/malloc.c).
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kLargestThreshold = 1 << 25;
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_MMAP_THRESHOLD, kLargestThreshold);
  ::malloc_trim(0);
#endif
}

// Not as plain memory: the compiler may leave out what nobody reads.
void touch(volatile std::byte* memory, std::size_t size_bytes) {
  for (std::size_t at = 0; at < size_bytes; at += kPageBytes) {
    memory[at] = std::byte{1};
  }
}

}  // namespace

std::size_t take_heap(std::size_t size_bytes) {
  keep_freed_memory();
  std::vector<Piece> pieces;
  pieces.reserve(size_bytes / kPieceBytes);
  while (pieces.size() * kPieceBytes < size_bytes) {
    Piece piece(new (std::nothrow) std::byte[kPieceBytes]);
    if (!piece) {
      break;
    }
    touch(piece.get(), kPieceBytes);
    pieces.push_back(std::move(piece));
  }
  return std::min(pieces.size() * kPieceBytes, size_bytes);
}

}  // namespace memtrace
