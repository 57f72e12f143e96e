#include "sections/loss_log.h"

#include <algorithm>
#include <utility>

namespace memtrace {

void LossLog::add(const Record& record, const Lost& lost) {
  const std::uint64_t last_ns = record.stamp.time_ns;
  const std::uint64_t first_ns = lost.first_ns == 0 ? last_ns : lost.first_ns;
  add({lost.reason, std::min(first_ns, last_ns), last_ns, lost.count});
  while (entries_.size() > kMaxEntries) {
    coarsen();
  }
}

// Together with a neighbour of the same reason if that makes it no longer than the grain.
void LossLog::add(const LossEntry& entry) {
  constexpr std::size_t kNeighbours = 8;  // several rings' losses alternate
  const std::size_t oldest = entries_.size() - std::min(entries_.size(), kNeighbours);
  for (std::size_t i = entries_.size(); i > oldest; --i) {
    LossEntry& other = entries_[i - 1];
    const std::uint64_t first_ns = std::min(other.first_ns, entry.first_ns);
    const std::uint64_t last_ns = std::max(other.last_ns, entry.last_ns);
    if (other.reason == entry.reason && last_ns - first_ns <= grain_ns_) {
      other = {entry.reason, first_ns, last_ns, other.count + entry.count};
      return;
    }
  }
  entries_.push_back(entry);
}

void LossLog::coarsen() {
  grain_ns_ *= 2;
  for (const LossEntry& entry : std::exchange(entries_, {})) {
    add(entry);
  }
}

}  // namespace memtrace
