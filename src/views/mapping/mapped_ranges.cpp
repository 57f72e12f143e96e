#include "views/mapping/mapped_ranges.h"

#include <algorithm>

namespace memtrace {

// execve(2) gives a process another serial number and ends nothing.
bool MappedRanges::has_ended(const ProcessTable& processes,
                             std::uint32_t pid,
                             std::uint64_t serial) {
  const Process* process = processes.find(pid);
  return process != nullptr && process->serial == serial && process->exited;
}

MappedRanges::Ranges& MappedRanges::ranges_of(Owner owner) {
  Space& space = processes_[owner.pid];
  if (space.serial != owner.serial) {
    space = {.serial = owner.serial, .ranges = {}};
  }
  return space.ranges;
}

// Cut to the range, in ascending order.
std::vector<MappedRanges::Ranges::Entry> MappedRanges::within(const Ranges& ranges, Range range) {
  std::vector<Ranges::Entry> found;
  const auto& all = ranges.entries();
  auto next = all.upper_bound(range.start);
  if (next != all.begin() && std::prev(next)->second.limit > range.start) {
    --next;
  }
  for (; next != all.end() && next->first < range.limit; ++next) {
    const auto& entry = next->second;
    found.push_back(
        {std::max(entry.start, range.start), std::min(entry.limit, range.limit), entry.value});
  }
  return found;
}

void MappedRanges::take(Ranges& ranges, Range range, std::uint64_t begun_ns) {
  for (const auto& entry : within(ranges, range)) {
    if (entry.value.time_ns <= begun_ns) {
      ranges.erase(entry.start, entry.limit);
    }
  }
}

void MappedRanges::map(Owner owner, Range range, const KeyWords& row, std::uint64_t time_ns) {
  ranges_of(owner).assign(range.start, range.limit, {row, time_ns});
}

void MappedRanges::unmap(Owner owner, Range range, std::uint64_t begun_ns) {
  take(ranges_of(owner), range, begun_ns);
}

void MappedRanges::move(Owner owner, const Move& move, const KeyWords& row) {
  Ranges& ranges = ranges_of(owner);
  const auto moved = within(ranges, move.from);
  if (!move.keep_old) {
    take(ranges, move.from, move.begun_ns);
  }
  const std::uint64_t moved_limit = move.to.start + (move.from.limit - move.from.start);
  ranges.erase(move.to.start, move.to.limit);
  if (move.keep_old) {  // a second mapping: all of it is new
    ranges.assign(move.to.start, move.to.limit, {row, move.time_ns});
    return;
  }
  for (const auto& entry : moved) {
    const std::uint64_t start = move.to.start + (entry.start - move.from.start);
    const std::uint64_t limit = move.to.start + (entry.limit - move.from.start);
    ranges.assign(start, std::min(limit, move.to.limit), {entry.value.row, move.time_ns});
  }
  ranges.assign(moved_limit, move.to.limit, {row, move.time_ns});
}

}  // namespace memtrace
