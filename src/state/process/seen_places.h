// A filter of the places in code that were met lately. Its user wants each place once and accepts
// some of them twice: the filter has a fixed size, and forgets a place when another takes its slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memtrace {

class SeenPlaces {
 public:
  static constexpr unsigned kSlotBits = 17;
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;  // 1 MiB

  // `hash` is the place's, and not 0.
  bool has(std::uint64_t hash) const { return slots_[slot_of(hash)] == hash; }

  void add(std::uint64_t hash) { slots_[slot_of(hash)] = hash; }

 private:
  static std::size_t slot_of(std::uint64_t hash) { return hash >> (64U - kSlotBits); }

  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(kSlots);
};

}  // namespace memtrace
