#include "views/fault/rss_tracker.h"

namespace memtrace {

std::optional<RssTracker::Change> RssTracker::apply(std::uint32_t pid, const RssStat& stat) {
  if (stat.is_of_task) {
    owners_[stat.mm_id] = pid;
  }
  const std::uint64_t key =
      (std::uint64_t{stat.mm_id} << 8U) | static_cast<std::uint64_t>(stat.member);
  const auto [last, is_new] = last_bytes_.try_emplace(key, stat.bytes);
  const std::uint64_t before = last->second;
  last->second = stat.bytes;
  const auto owner = owners_.find(stat.mm_id);
  if (is_new || owner == owners_.end()) {
    return std::nullopt;
  }
  return Change{.pid = owner->second,
                .shrunk_bytes = before > stat.bytes ? before - stat.bytes : 0,
                .grown_bytes = stat.bytes > before ? stat.bytes - before : 0,
                .by_owner = owner->second == pid};
}

}  // namespace memtrace
