#include "views/rss/rss_tracker.h"

namespace memtrace {

namespace {

constexpr std::uint64_t key_of(std::uint32_t mm_id, RssMember member) {
  return (std::uint64_t{mm_id} << 8U) | static_cast<std::uint64_t>(member);
}

}  // namespace

// It has ended, or has called execve(2) and changes another one since.
bool RssTracker::is_left(std::uint32_t owner,
                         std::uint32_t mm_id,
                         const ProcessTable& processes) const {
  const Process* process = processes.find(owner);
  const auto own = own_of_.find(owner);
  return (process != nullptr && process->exited) || (own != own_of_.end() && own->second != mm_id);
}

void RssTracker::forget(std::uint32_t mm_id) {
  owners_.erase(mm_id);
  for (const RssMember member : {RssMember::File,
                                 RssMember::Anonymous,
                                 RssMember::Swap,
                                 RssMember::SharedMemory,
                                 RssMember::Other}) {
    last_bytes_.erase(key_of(mm_id, member));
  }
}

std::optional<RssTracker::Change> RssTracker::apply(std::uint32_t pid,
                                                    const RssStat& stat,
                                                    const ProcessTable& processes) {
  const auto former = owners_.find(stat.mm_id);
  if (former != owners_.end() && former->second != pid &&
      is_left(former->second, stat.mm_id, processes)) {
    forget(stat.mm_id);
  }
  if (stat.is_of_task && owners_.try_emplace(stat.mm_id, pid).first->second == pid) {
    own_of_[pid] = stat.mm_id;
  }
  const auto [last, is_new] = last_bytes_.try_emplace(key_of(stat.mm_id, stat.member), stat.bytes);
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
