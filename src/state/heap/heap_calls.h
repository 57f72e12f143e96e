// Calls of allocator functions that have begun and not returned yet, thread by thread: what pairs a
// probe on the entry with the one on the return.
//
//   thread 7   posix_memalign(...)   sp 0x..f40
//                 malloc(4160)       sp 0x..ee8   deeper in the stack: nested, counts for nobody
//
// A call may never return: longjmp(3), an exception, the thread's end. It is given up as soon as
// its thread calls from the same depth of the stack or above.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "state/heap/live_block.h"
#include "tracepoints/event/event.h"

namespace memtrace {

struct PendingCall {
  StringId name;  // of the call: the same for entry and return
  HeapCall call;
  bool is_nested = false;
  std::uint64_t weight = 1;
  StringId function;
  LocationId call_site;
  StackId stack;
  std::optional<LiveBlock> replaced;  // realloc's old block, when it is known
};

class HeapCalls {
 public:
  // Sets is_nested. The reference is valid until the next call of this class.
  PendingCall& enter(std::uint32_t tid, PendingCall call);

  // The innermost call of that name, or when a stack pointer is given the one that was entered with
  // it; those that it had begun have returned unseen. Nothing when the call began before the
  // recording or its entry was lost.
  std::optional<PendingCall> leave(std::uint32_t tid, StringId name, std::uint32_t stack_pointer);

  // True when this thread is in the midst of replacing that block: realloc's own free.
  bool is_replacing(std::uint32_t tid, std::uint64_t address) const;

  bool is_in_call(std::uint32_t tid) const {
    const auto thread = threads_.find(tid);
    return thread != threads_.end() && !thread->second.empty();
  }

  void forget(std::uint32_t tid) { threads_.erase(tid); }

  // After a loss nobody knows which calls have returned.
  void forget_all() { threads_.clear(); }

 private:
  std::unordered_map<std::uint32_t, std::vector<PendingCall>> threads_;
};

}  // namespace memtrace
