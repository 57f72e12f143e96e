#include "perf/pace/window_events.h"

namespace memtrace {

WindowEvents::WindowEvents(std::span<const OpenedEvent> events) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, ByShare> by_kind;
  const auto kind_of = [](const EventRequest& request) {
    return std::pair(request.type, request.info.config);
  };
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (const EventRequest& request = events[i].request; request.is_of_windows()) {
      by_kind[kind_of(request)][request.info.window_share] = i;
    }
  }
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const EventRequest& request = events[i].request;
    const auto shares = by_kind.find(kind_of(request));
    if (!request.is_of_windows() && shares != by_kind.end()) {
      by_event_[i] = shares->second;
    }
  }
}

std::optional<std::uint32_t> WindowEvents::find(std::uint32_t event, std::uint64_t share) const {
  const auto shares = by_event_.find(event);
  if (shares == by_event_.end()) {
    return std::nullopt;
  }
  const auto found = shares->second.find(share);
  return found == shares->second.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace memtrace
