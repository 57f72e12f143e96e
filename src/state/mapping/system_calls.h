// System calls that have begun and not ended yet, by thread: entries wait here for their exits.
#pragma once

#include <cstdint>
#include <optional>

#include "base/hash_map.h"
#include "base/ids.h"
#include "tracepoints/event/event_syscalls.h"

namespace memtrace {

class SystemCalls {
 public:
  struct Begun {
    SystemCallEntry entry;
    std::uint64_t time_ns = 0;
    std::uint64_t weight = 1;
    StackId stack;
  };

  // A thread is in one call at a time: an earlier one whose exit was not seen is given up.
  void enter(std::uint32_t tid, const Begun& begun);

  // Nothing for an exit without its entry: the recording began in between, or the entry was lost.
  // A forked child leaves a call that its parent had entered.
  std::optional<Begun> leave(std::uint32_t tid, SystemCall call);

  // The thread has ended, or its id is another's now.
  void forget(std::uint32_t tid) { begun_.erase(tid); }

  // Exits may have been lost.
  void clear() { begun_.clear(); }

  // Entries that were given up.
  std::uint64_t unfinished() const { return unfinished_; }

 private:
  HashMap<std::uint32_t, Begun> begun_;
  std::uint64_t unfinished_ = 0;
};

}  // namespace memtrace
