// Event ids to small numbers, asked once for every sample: a flat hash table with linear probing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/hash.h"

namespace memtrace {

class IdTable {
 public:
  // The id 0 is never an event's (perf numbers them from 1) and marks a free slot.
  void add(std::uint64_t id, std::uint32_t number) {
    if (id == 0) {
      return;
    }
    if ((count_ + 1) * 2 > slots_.size()) {
      grow();
    }
    place({id, number});
  }

  std::optional<std::uint32_t> find(std::uint64_t id) const {
    if (count_ == 0 || id == 0) {
      return std::nullopt;
    }
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = mix(id) & mask;; at = (at + 1) & mask) {
      if (slots_[at].id == id) {
        return slots_[at].number;
      }
      if (slots_[at].id == 0) {
        return std::nullopt;
      }
    }
  }

  bool empty() const { return count_ == 0; }

 private:
  struct Slot {
    std::uint64_t id = 0;
    std::uint32_t number = 0;
  };

  void place(Slot slot) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = mix(slot.id) & mask;
    while (slots_[at].id != 0 && slots_[at].id != slot.id) {
      at = (at + 1) & mask;
    }
    count_ += slots_[at].id == 0 ? 1 : 0;
    slots_[at] = slot;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    count_ = 0;
    for (const Slot& slot : old) {
      if (slot.id != 0) {
        place(slot);
      }
    }
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace memtrace
