// The address space that each process was last seen in, for the threads that empty the rings. One
// thread enters processes, and any number look them up without a lock. Of fixed size: a process may
// have taken the place of another.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/hash.h"

namespace memtrace {

class SpaceTable {
 public:
  static constexpr std::size_t kSlots = std::size_t{1} << 14U;  // of 24 bytes

  // For the one thread that enters.
  void enter(std::uint32_t pid, std::uint64_t space) {
    Slot& slot = slots_[slot_of(pid)];
    if (slot.pid.load(std::memory_order_relaxed) == pid &&
        slot.space.load(std::memory_order_relaxed) == space) {
      return;
    }
    const std::uint64_t version = slot.version.load(std::memory_order_relaxed);
    slot.version.store(version + 1, std::memory_order_relaxed);  // odd: it is being written
    std::atomic_thread_fence(std::memory_order_release);
    slot.pid.store(pid, std::memory_order_relaxed);
    slot.space.store(space, std::memory_order_relaxed);
    slot.version.store(version + 2, std::memory_order_release);
  }

  // For any thread. Nothing when it is not there, or is being entered at this moment.
  std::optional<std::uint64_t> find(std::uint32_t pid) const {
    const Slot& slot = slots_[slot_of(pid)];
    const std::uint64_t version = slot.version.load(std::memory_order_acquire);
    const std::uint64_t owner = slot.pid.load(std::memory_order_acquire);
    const std::uint64_t space = slot.space.load(std::memory_order_acquire);
    const bool is_whole =
        version % 2 == 0 && slot.version.load(std::memory_order_relaxed) == version;
    return is_whole && owner == pid && space != 0 ? std::optional(space) : std::nullopt;
  }

 private:
  struct Slot {
    std::atomic<std::uint64_t> version = 0;
    std::atomic<std::uint64_t> pid = 0;
    std::atomic<std::uint64_t> space = 0;  // 0: no process has it
  };

  static std::size_t slot_of(std::uint32_t pid) { return mix(pid) & (kSlots - 1); }

  std::array<Slot, kSlots> slots_;
};

}  // namespace memtrace
