// The places that were met lately, for whoever wants each of them once and can bear to be given one
// twice. Of fixed size: a place is forgotten when another falls on its slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memtrace {

class SeenPlaces {
 public:
  static constexpr unsigned kSlotBits = 17;
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;  // 1 MiB

  // `hash` stands for the place, and is not 0.
  bool has(std::uint64_t hash) const { return slots_[slot_of(hash)] == hash; }

  void add(std::uint64_t hash) { slots_[slot_of(hash)] = hash; }

 private:
  static std::size_t slot_of(std::uint64_t hash) { return hash >> (64U - kSlotBits); }

  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(kSlots);
};

}  // namespace memtrace
