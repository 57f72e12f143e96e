// What return addresses were before the kernel's return probes replaced them. A probe at a
// function's entry samples the stack before its return probe takes hold, with the return address on
// top; a sample deeper in the same call finds the kernel's trampoline in that slot.
//
//   realloc's entry   sp 0x..f8: 0x5630c4fb8442   remembered for 0x..f8
//   malloc, called by realloc, sampled            0x..f8 holds the trampoline
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace memtrace {

class ReturnSlots {
 public:
  // A sample's stack pointer, what lay there, and the return address that its stack was unwound to.
  struct Top {
    std::uint64_t avma = 0;
    std::uint64_t value = 0;
    std::uint64_t caller = 0;
  };

  void note(std::uint32_t tid, const Top& top) {
    if (top.value != top.caller) {
      return;  // not at an entry, or the trampoline is already there
    }
    Thread& thread = threads_[tid];
    thread.slots[thread.next++ % thread.slots.size()] = {top.avma, top.caller};
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
