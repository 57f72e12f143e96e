// Spine 4: one event with its meaning. The closed list of payloads is the variant at the end; an
// event without a typed payload still has its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/ids.h"
#include "tracepoints/field.h"

namespace memtrace {

// kmem:kmalloc, kmem:kmem_cache_alloc and their _node forms.
struct SlabAlloc {
  std::uint64_t call_site = 0;  // kernel address
  std::uint64_t ptr = 0;
  std::uint64_t bytes_req = 0;
  std::uint64_t bytes_alloc = 0;
  std::uint64_t gfp = 0;
  std::int32_t node = -1;  // -1: any, or the event has no node
  bool kmalloc = false;    // else from a named cache
  std::string_view cache;  // "" when the event has no name field
};

// kmem:kfree, kmem:kmem_cache_free. kfree(NULL) is traced too: ptr 0.
struct SlabFree {
  std::uint64_t call_site = 0;
  std::uint64_t ptr = 0;
  bool kmalloc = false;
  std::string_view cache;
};

// kmem:mm_page_alloc. `page` is a pfn, or a struct page address before 4.4: an identity only.
struct PageAlloc {
  std::uint64_t page = 0;
  std::uint32_t order = 0;
  std::uint64_t gfp = 0;
  std::int32_t migratetype = 0;
  bool failed = false;      // no page was to be had
  bool page_is_pfn = true;  // false: struct page addresses, neighbours cannot be computed
};

// kmem:mm_page_free; kmem:mm_page_free_direct and mm_pagevec_free on 2.6.32.
struct PageFree {
  std::uint64_t page = 0;
  std::uint32_t order = 0;
  bool page_is_pfn = true;
};

// exceptions:page_fault_user and _kernel, software page-faults: Entry, with error_code if there is
// one. Software minor-faults and major-faults: the fault's completion.
enum class FaultStage : std::uint8_t { Entry, Minor, Major };

struct PageFault {
  std::uint64_t address = 0;
  std::uint64_t ip = 0;
  std::uint64_t error_code = 0;  // x86: bit 0 present, 1 write, 2 user, 4 instruction fetch
  bool has_error_code = false;
  bool in_kernel = false;  // exceptions:page_fault_kernel
  FaultStage stage = FaultStage::Entry;
};

// What an allocator's function does with the heap.
enum class HeapOp : std::uint8_t { Alloc, Realloc, Free };

// The entry of an allocator's function: a probe of a memtrace_heap group (tracepoints/heap.h).
struct HeapCall {
  HeapOp op = HeapOp::Alloc;
  std::uint64_t address = 0;  // of the block given to free or realloc
  std::uint64_t bytes = 0;    // asked for; a product that overflows is as large as can be
  // Lower half of the stack pointer at the function's entry, to tell nested calls from calls that
  // were left by longjmp(3); 0 when the probe does not say.
  std::uint32_t stack_pointer = 0;
};

// The end of such a call. address is 0 when it failed, or when the function does not return it.
struct HeapReturn {
  std::uint64_t address = 0;
  std::optional<std::uint64_t> usable_bytes;  // of a glibc chunk, when the probe reads it
  // At a return instruction: as at the entry of the call that returns. 0: the probe does not say.
  std::uint32_t stack_pointer = 0;
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
// manual, Memory Allocation Probes), or guessed from system calls (state/arena_guess.h).
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

// System calls that change an address space.
enum class MapOp : std::uint8_t { Map, Unmap, Protect, Remap, Advise, Break };

// syscalls:sys_enter_mmap and so on.
struct MapCall {
  MapOp op = MapOp::Map;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t new_bytes = 0;  // mremap's
  std::uint64_t protection = 0;
  std::uint64_t flags = 0;  // mmap's and mremap's; madvise's advice
};

// syscalls:sys_exit_mmap and so on.
struct MapReturn {
  MapOp op = MapOp::Map;
  std::int64_t result = 0;  // -errno on failure
};

// Made of both: a call that succeeded. brk(2) returns the top as it is, whatever it was asked for.
struct Map {
  MapCall call;
  std::uint64_t result = 0;
};

using EventPayload = std::variant<std::monostate,
                                  SlabAlloc,
                                  SlabFree,
                                  PageAlloc,
                                  PageFree,
                                  PageFault,
                                  HeapCall,
                                  HeapReturn,
                                  HeapAlloc,
                                  ArenaEvent,
                                  MapCall,
                                  MapReturn,
                                  Map>;

// What is the same for all events of one kind in a recording.
struct EventType {
  std::string name;         // "kmem:kmalloc", "page-faults"
  std::uint32_t index = 0;  // in Recording::events
  EventFormat format;       // no fields for software events
  // Of a probe on an allocator (tracepoints/heap.h), else "": the function, and the name that its
  // call and its return share.
  std::string heap_function = {};
  std::string heap_call = {};
  // Of a probe that memtrace placed for -e: what it is on, "foo", "libc_memory_arena_new"; else "".
  std::string probe = {};
};

// A block that an allocation made and that this event frees; state/live_blocks.h.
struct LiveBlock;

struct Event {
  std::uint64_t time_ns = 0;
  std::uint32_t cpu = 0;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t weight = 1;  // hits this event stands for: more than 1 when sampled one in N
  StackId stack;
  LocationId call_site;             // who called the allocator, or the probed function
  StringId comm;                    // the thread's name as of this event
  StringId cache;                   // a slab event's cache, if the event names it
  StringId function;                // of a user probe: "malloc"
  const EventType* type = nullptr;  // never null in a view
  std::span<const std::byte> raw;   // the fields' bytes; borrowed
  EventPayload payload;
  const LiveBlock* freed = nullptr;  // set when live blocks are tracked and the block is known
};

}  // namespace memtrace
