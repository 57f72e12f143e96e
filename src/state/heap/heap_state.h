// The user heap: calls of allocators' functions, their returns and frees become blocks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/interner.h"
#include "state/heap/heap_blocks.h"
#include "state/heap/heap_calls.h"
#include "state/heap/heap_entries.h"
#include "state/heap/heap_names.h"
#include "state/heap/live_block.h"
#include "state/process/process_table.h"
#include "state/process/stack_table.h"
#include "tracepoints/event/event.h"

namespace memtrace {

class HeapState {
 public:
  struct Options {
    bool track_blocks = false;
    bool track_callers = false;  // for is_in_call(), where returns are not probed
  };

  // Both outlive it.
  HeapState(const StackTable& stacks, StringTable& strings, Options options)
      : stacks_(stacks), strings_(strings), options_(options) {}

  const HeapBlocks& blocks() const { return blocks_; }

  const HeapNames::Names& names_of(const EventType& type);

  // A call that goes on in another function becomes HeapAgain, a return with its call HeapAlloc.
  // They set the event's `freed` and `replaced`, which are good until the next of these calls.
  void apply(Event& event, const HeapCall& call);
  void apply(Event& event, const HeapReturn& ended);
  void apply(Event& event, const HeapAgain& again);

  void fork(const ProcessTable::ForkedTask& task);
  void exec(std::uint32_t pid);
  void forget(std::uint32_t tid);

  // Events are missing: calls that have begun may have returned.
  void forget_calls();

  // False: only returns of allocators are probed.
  bool has_calls() const { return has_calls_; }

  // Whether what happens now is an allocator's doing.
  bool is_in_call(const Event& event) const;

  // Frees of blocks that were allocated before the recording began.
  std::uint64_t unmatched_frees() const { return unmatched_frees_; }

 private:
  struct FreedAddress {
    std::uint32_t tid = 0;
    std::uint64_t address = 0;
  };

  void apply_free(Event& event, const HeapCall& call);
  void finish(Event& event, const HeapReturn& ended, PendingCall& pending);
  void note_freed(Event& event, std::optional<LiveBlock> block);

  const StackTable& stacks_;
  StringTable& strings_;
  Options options_;
  HeapBlocks blocks_;
  HeapCalls calls_;
  HeapEntries entries_;
  HeapNames names_;
  std::unordered_map<std::uint32_t, StackId> callers_;  // by tid: of the last call
  bool has_calls_ = true;
  // The last free of each thread, in a place by its tid: one that another thread takes is
  // forgotten.
  std::array<FreedAddress, 256> last_freed_ = {};
  std::optional<LiveBlock> freed_;
  std::optional<LiveBlock> replaced_;
  std::uint64_t unmatched_frees_ = 0;
};

}  // namespace memtrace
