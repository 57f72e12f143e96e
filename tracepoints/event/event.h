// Spine 4: one event with its meaning. The closed lists of payloads are the two variants; each
// group of tracepoints has its payloads in a header of its own. An event without a typed payload
// still has its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/ids.h"
#include "tracepoints/event/event_allocators.h"
#include "tracepoints/event/event_compaction.h"
#include "tracepoints/event/event_faults.h"
#include "tracepoints/event/event_heap.h"
#include "tracepoints/event/event_oom.h"
#include "tracepoints/event/event_reclaim.h"
#include "tracepoints/event/event_resident.h"
#include "tracepoints/event/event_stack.h"
#include "tracepoints/event/event_syscalls.h"
#include "tracepoints/event/event_work.h"
#include "tracepoints/event/event_writeback.h"
#include "tracepoints/format/field.h"

namespace memtrace {

// Those that are what an event says and what views see alike.
template <typename... More>
using PayloadWith = std::variant<std::monostate,
                                 SlabAlloc,
                                 SlabFree,
                                 PageAlloc,
                                 PageFree,
                                 PageFault,
                                 PageCacheChange,
                                 RssStat,
                                 ResidentPage,
                                 HeapCall,
                                 HeapReturn,
                                 ArenaEvent,
                                 SystemCallEntry,
                                 WorkBegin,
                                 LruShrink,
                                 ReclaimWrite,
                                 KswapdRequest,
                                 ReclaimThrottle,
                                 OomVictim,
                                 SignalSent,
                                 CompactionMoved,
                                 Collapse,
                                 PageDirtied,
                                 DirtyBalance,
                                 PagesWritten,
                                 InodeWritten,
                                 FlushRound,
                                 BlockWrite,
                                 More...>;

// What a decoder reads from a sample.
using RawPayload = PayloadWith<HeapAgain, SystemCallExit, WorkEnd, CompactionGoal, CompactionTry>;

// What views see: the world has paired ends with their begins, and has kept what only it needs.
// monostate: an event of no typed payload, or one that the world alone needs.
using EventPayload = PayloadWith<HeapAlloc, SystemCallDone, Work>;

// What is the same for all events of one kind in a recording.
struct EventType {
  std::string name;         // "kmem:kmalloc", "page-faults"
  std::uint32_t index = 0;  // in Recording::events
  EventFormat format;       // no fields for software events
  // For a probe on an allocator (tracepoints/decode/heap.h), else "": the function, and the name
  // that its call and its return share.
  std::string heap_function = {};
  std::string heap_call = {};
  // For a probe that memtrace set for -e: what it is on, "foo", "libc_memory_arena_new"; else "".
  std::string probe = {};
};

// A block that an allocation made and that this event frees; state/heap/live_blocks.h.
struct LiveBlock;

// Of an event that was watched in windows (perf/pace/event_gates.h): how many slots a cycle has, of
// which one is watched, and the number of the cycle.
struct Sampling {
  std::uint32_t window_share = 1;
  std::uint32_t window = 0;
};

struct Event {
  std::uint64_t time_ns = 0;
  std::uint32_t cpu = 0;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t weight = 1;  // hits this event represents: more than 1 when sampled one in N
  Sampling sampling;
  EventStack stack;
  LocationId call_site;  // who called the allocator, or the probed function; of a fault, its code
  StringId comm;         // the thread's name as of this event
  StringId cache;        // a slab event's cache, if the event names it
  StringId function;     // of a user probe: "malloc"
  StringId label;        // what the payload names: a device, the victim of a kill
  SystemCall call = SystemCall::Other;  // whose entry or exit it is
  const EventType* type = nullptr;      // never null in a view
  std::span<const std::byte> raw;       // the fields' bytes; borrowed
  EventPayload payload;
  IdentityId identity;               // of its process, as of this event; none when not known
  LifeId life;                       // the same: which program its process was running
  const LiveBlock* freed = nullptr;  // set when live blocks are tracked and the block is known
  // For an allocation: the block that had the address before, whose free made no event.
  const LiveBlock* replaced = nullptr;
};

}  // namespace memtrace
