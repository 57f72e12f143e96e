// What return addresses were before the kernel's return probes replaced them. A probe at a
// function's entry samples the stack before its return probe takes hold, with the return address on
// top; a sample deeper in the same call finds the kernel's trampoline in that slot.
//
//   realloc's entry   sp 0x..f8: 0x5630c4fb8442   remembered for 0x..f8
//   malloc, called by realloc, sampled            0x..f8 holds the trampoline
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "perf/record.h"
#include "symbolize/register_file.h"

namespace memtrace {

class ReturnSlots {
 public:
  // `stack_pointer` is the sample's, `caller` the return address that its stack was unwound to.
  void note(const Sample& sample, std::uint64_t stack_pointer, std::uint64_t caller) {
    Slot slot{.avma = stack_pointer, .return_address = caller};
    std::uint64_t top = 0;
    if (sample.user_stack.size() < sizeof(top)) {
      return;
    }
    std::memcpy(&top, sample.user_stack.data(), sizeof(top));
    if (top != caller) {
      return;  // not at an entry, or the trampoline is already there
    }
    Thread& thread = threads_[sample.tid];
    thread.slots[thread.next++ % thread.slots.size()] = slot;
  }

  // Nothing when it is not known; then it is the newest of that slot that counts.
  std::optional<std::uint64_t> find(std::uint32_t tid, std::uint64_t avma) const {
    const auto thread = threads_.find(tid);
    if (thread == threads_.end()) {
      return std::nullopt;
    }
    const Thread& known = thread->second;
    for (std::size_t back = 1; back <= known.slots.size(); ++back) {
      const Slot& slot = known.slots[(known.next + known.slots.size() - back) % known.slots.size()];
      if (slot.avma == avma) {
        return slot.return_address;
      }
    }
    return std::nullopt;
  }

 private:
  struct Slot {
    std::uint64_t avma = 0;
    std::uint64_t return_address = 0;
  };

  struct Thread {
    std::array<Slot, 8> slots{};
    std::size_t next = 0;
  };

  std::unordered_map<std::uint32_t, Thread> threads_;
};

}  // namespace memtrace
