// Event ids to small numbers, asked once for every sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/hash.h"
#include "base/hash_map.h"

namespace memtrace {

class IdTable {
 public:
  // The id 0 is never an event's: perf numbers them from 1.
  void add(std::uint64_t id, std::uint32_t number) {
    if (id != 0) {
      numbers_.insert_or_assign(id, number);
    }
  }

  std::optional<std::uint32_t> find(std::uint64_t id) const {
    const auto found = numbers_.find(id);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }

  bool empty() const { return numbers_.empty(); }

 private:
  struct Hash {
    std::size_t operator()(std::uint64_t id) const { return mix(id); }
  };

  HashMap<std::uint64_t, std::uint32_t, Hash> numbers_;
};

}  // namespace memtrace
