// Payloads of user code's allocators, and of glibc's arenas.
#pragma once

#include <cstdint>
#include <optional>

namespace memtrace {

// What an allocator's function does with the heap.
enum class HeapOp : std::uint8_t { Alloc, Realloc, Free };

// The entry of an allocator's function: a probe of a memtrace_heap group
// (tracepoints/decode/heap.h).
struct HeapCall {
  HeapOp op = HeapOp::Alloc;
  std::uint64_t address = 0;  // of the block given to free or realloc
  std::uint64_t bytes = 0;    // asked for; a product that overflows is as large as can be
  // Lower half of the stack pointer at the function's entry, to distinguish nested calls from calls
  // that were left by longjmp(3); 0 when the probe does not say.
  std::uint32_t stack_pointer = 0;
  // The function does its work by another one that is probed as well: musl's calloc calls malloc,
  // and glibc's realloc of no block jumps to it.
  bool has_inner = false;
};

// The end of such a call. address is 0 when it failed, or when the function does not return it.
struct HeapReturn {
  std::uint64_t address = 0;
  std::optional<std::uint64_t> usable_bytes;  // of a glibc chunk, when the probe reads it
  // At a return instruction: as at the entry of the call that returns. 0: the probe does not say.
  std::uint32_t stack_pointer = 0;
};

// glibc's first call of a function (malloc/hooks.c, until 2.33): it enters the function once more
// for the same call. The world makes one of that entry, too, and of each that belongs to a call
// which is under way: nobody counts them.
struct HeapAgain {
  std::uint64_t bytes = 0;  // asked for
};

// Made of a HeapCall and its HeapReturn: memory that the program now has. The event's stack is the
// call's. For realloc Event::freed is the block that it replaces.
struct HeapAlloc {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool is_realloc = false;
  bool has_call = true;  // false: only the return is probed, bytes are the block's usable size
};

// What glibc's malloc does with its arenas and their heaps: a static probe libc:memory_* (glibc
// manual, Memory Allocation Probes), or guessed from system calls (state/heap/arena_guess.h).
enum class ArenaOp : std::uint8_t {
  ArenaNew,
  ArenaReuse,
  ArenaReuseFreeList,  // of a thread that has ended
  ArenaWait,           // all are in use: waits for this one
  ArenaRetry,          // this one was exhausted: tries another
  HeapNew,
  HeapMore,
  HeapLess,
  HeapFree,
  SbrkMore,
  SbrkLess,
  Retry,       // malloc, calloc, realloc or memalign goes to another arena
  Thresholds,  // as they are from now on
  Other        // another probe of malloc
};

struct ArenaEvent {
  ArenaOp op = ArenaOp::Other;
  std::uint64_t address = 0;  // of the arena or heap; of the main heap's new part
  std::uint64_t bytes = 0;    // of the whole heap; of the main heap's new part; asked for
  std::optional<std::uint64_t> mmap_threshold_bytes = {};
  std::optional<std::uint64_t> trim_threshold_bytes = {};
};

}  // namespace memtrace
