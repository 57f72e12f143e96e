// Ids of events that are opened and closed again while a recording runs, each with the number of
// the event whose samples it makes. One thread sets them while others ask.
//
// The kernel counts ids upwards (kernel/events/core.c, perf_event_id). The last bits of an id are
// its place in the table, which it takes from an id that is no longer used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace memtrace {

class PassingIds {
 public:
  static constexpr std::size_t kPlaces = std::size_t{1} << 16U;

  // `number` is less than 2^20, the id less than 2^44.
  void set(std::uint64_t id, std::uint32_t number) {
    places_[id % kPlaces].store(id << kNumberBits | number, std::memory_order_release);
  }

  std::optional<std::uint32_t> find(std::uint64_t id) const {
    const std::uint64_t place = places_[id % kPlaces].load(std::memory_order_acquire);
    return id != 0 && place >> kNumberBits == id
               ? std::optional(static_cast<std::uint32_t>(place & kNumberMask))
               : std::nullopt;
  }

 private:
  static constexpr unsigned kNumberBits = 20;
  static constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kNumberBits) - 1;

  std::vector<std::atomic<std::uint64_t>> places_ =
      std::vector<std::atomic<std::uint64_t>>(kPlaces);
};

}  // namespace memtrace
