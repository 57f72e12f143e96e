// Samples of a window belong to an event of their own, one for each share: this finds it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "perf/event/event_set.h"

namespace memtrace {

class WindowEvents {
 public:
  // Events are indices into this.
  explicit WindowEvents(std::span<const OpenedEvent> events);

  bool has(std::uint32_t event) const { return by_event_.contains(event); }

  // The event for samples of this one in windows, each of which counts `share` times.
  std::optional<std::uint32_t> find(std::uint32_t event, std::uint64_t share) const;

 private:
  using ByShare = std::map<std::uint64_t, std::uint32_t>;

  std::map<std::uint32_t, ByShare> by_event_;
};

}  // namespace memtrace
