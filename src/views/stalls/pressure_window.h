// Who took memory in the last second or so, and who made pages dirty: sums by actor over a window
// that moves in slots. A page that its owner frees within the window is taken off again; what
// reclaim frees is not, because it was taken from somebody for the one who allocated. Nor is a page
// that compaction moves: its contents are elsewhere then.
//
//   now                      ▼
//   slots   │ 1 │ 2 │ ... │ 20 │        a new slot begins, and the oldest one is taken off
//           └──── window ──────┘
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/hash_map.h"

namespace memtrace {

class PressureWindow {
 public:
  static constexpr std::uint64_t kSlots = 20;
  // Pages of the window whose free would be noticed: 1 GiB of 4 KiB pages, about 12 MB of memory.
  static constexpr std::size_t kMaxTakenPages = std::size_t{1} << 18U;

  struct Pressure {
    std::int64_t pages = 0;
    std::int64_t dirtied = 0;
  };

  // By the number of an actor.
  using Sums = HashMap<std::uint32_t, Pressure>;

  explicit PressureWindow(std::uint64_t window_ns);

  std::uint64_t slot_ns() const { return slot_ns_; }

  // Whether this time is behind the current slot.
  bool is_behind(std::uint64_t time_ns) const { return slots_.empty() || time_ns >= end_ns_; }

  // Begins the slot that this time is in.
  void move_to(std::uint64_t time_ns);

  void allocate(std::uint32_t actor, std::uint64_t page, std::uint64_t pages);

  // Who allocated the block, if that was in the window. Not to be called for what reclaim
  // or compaction frees.
  std::optional<std::uint32_t> give_back(std::uint64_t page, std::uint64_t pages);

  void dirty(std::uint32_t actor, std::uint64_t pages);

  const Sums& sums() const { return sums_; }

  // Blocks that were more than can be remembered: their frees go unnoticed.
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  struct Slot {
    Sums sums;
    std::vector<std::uint64_t> taken;  // first pages
  };

  struct Taken {
    std::uint32_t actor = 0;
    std::uint64_t slot = 0;  // counted from the first one on
    std::uint64_t pages = 0;
  };

  void drop_oldest();
  void add(Slot& slot, std::uint32_t actor, const Pressure& more);

  std::uint64_t slot_ns_;
  std::uint64_t end_ns_ = 0;  // of the current slot
  std::deque<Slot> slots_;
  std::uint64_t first_slot_ = 0;  // the number of slots_.front()
  Sums sums_;
  HashMap<std::uint64_t, Taken> taken_;
  std::size_t listed_ = 0;  // in `taken` of all slots
  std::uint64_t forgotten_ = 0;
};

}  // namespace memtrace
