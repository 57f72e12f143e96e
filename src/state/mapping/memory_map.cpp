#include "state/mapping/memory_map.h"

#include <algorithm>
#include <vector>

namespace memtrace {

// Cut to the range, in ascending order.
std::vector<MemoryMap::Entry> MemoryMap::entries_in(Range range) const {
  std::vector<Entry> found;
  const auto& all = areas_.entries();
  auto next = all.upper_bound(range.start);
  if (next != all.begin() && std::prev(next)->second.limit > range.start) {
    --next;
  }
  for (; next != all.end() && next->first < range.limit; ++next) {
    const Entry& entry = next->second;
    found.push_back(
        {std::max(entry.start, range.start), std::min(entry.limit, range.limit), entry.value});
  }
  return found;
}

void MemoryMap::fill(Range range, const MemoryArea& area) {
  std::uint64_t start = range.start;
  for (const Entry& entry : entries_in(range)) {
    areas_.assign(start, entry.start, area);
    start = entry.limit;
  }
  areas_.assign(start, range.limit, area);
}

void MemoryMap::unmap(Range range, std::span<const Range> kept) {
  std::vector<Entry> again;
  for (const Range& part : kept) {
    const auto inside =
        entries_in({std::max(part.start, range.start), std::min(part.limit, range.limit)});
    again.insert(again.end(), inside.begin(), inside.end());
  }
  areas_.erase(range.start, range.limit);
  for (const Entry& entry : again) {
    areas_.assign(entry.start, entry.limit, entry.value);
  }
}

void MemoryMap::move(const Move& move) {
  std::vector<Entry> moved = entries_in(move.from);
  if (!move.keep_old) {
    unmap(move.from, move.kept);
  }
  areas_.erase(move.to.start, move.to.limit);
  if (moved.empty()) {
    return;
  }
  const std::uint64_t distance = move.to.start - move.from.start;  // may wrap: it is added back
  // Only the last mapping can grow.
  moved.back().limit = std::max(moved.back().limit, move.to.limit - distance);
  for (Entry& entry : moved) {
    entry.value.offset_minus_avma -= entry.value.has_offset() ? distance : 0;
    areas_.assign(
        entry.start + distance, std::min(entry.limit + distance, move.to.limit), entry.value);
  }
}

void MemoryMap::protect(Range range, std::uint32_t protection) {
  for (Entry& entry : entries_in(range)) {
    entry.value.protection = protection;
    areas_.assign(entry.start, entry.limit, entry.value);
  }
}

void MemoryMap::cut_heap(std::uint64_t limit) {
  for (const Entry& entry : entries_in({limit, ~std::uint64_t{0}})) {
    if (entry.value.kind == AreaKind::Heap) {
      areas_.erase(entry.start, entry.limit);
    }
  }
}

std::uint64_t MemoryMap::heap_limit() const {
  std::uint64_t limit = 0;
  for (const auto& [start, entry] : areas_.entries()) {
    limit = entry.value.kind == AreaKind::Heap ? entry.limit : limit;
  }
  return limit;
}

// As the kernel does: all mappings of the segment's file that lie where this attachment would have
// put them (ipc/shm.c, ksys_shmdt).
void MemoryMap::detach(std::uint64_t start) {
  std::vector<Entry> attached;
  for (const Entry& entry : entries_in({start, ~std::uint64_t{0}})) {
    const MemoryArea& area = entry.value;
    const bool is_shared = area.kind == AreaKind::SharedMemory || area.kind == AreaKind::HugePages;
    const bool in_place = area.offset_minus_avma + start == 0;
    // A segment's inode number is its id (shmget(2)), which may be 0.
    const auto same_file = [&area](const MemoryArea& first) {
      return area.path == first.path && area.inode == first.inode && area.minor == first.minor;
    };
    if (is_shared && in_place && (attached.empty() || same_file(attached.front().value))) {
      attached.push_back(entry);
    }
  }
  for (const Entry& entry : attached) {
    areas_.erase(entry.start, entry.limit);
  }
}

}  // namespace memtrace
