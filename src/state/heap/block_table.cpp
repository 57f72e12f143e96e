#include "state/heap/block_table.h"

#include <algorithm>
#include <utility>

namespace memtrace {
namespace {

constexpr std::size_t kFirstSlots = 16;

}  // namespace

std::optional<LiveBlock> BlockTable::put(const LiveBlock& block) {
  if ((size() + 1) * 2 > slots_.size()) {  // at most half of them are used
    grow();
  }
  Slot& slot = slots_[place_of(block.key)];
  if (slot.number != 0) {
    return std::exchange(blocks_[slot.number - 1], block);
  }
  slot.hash = hash_of(block.key);
  if (free_.empty()) {
    blocks_.push_back(block);
    slot.number = static_cast<std::uint32_t>(blocks_.size());
  } else {
    slot.number = free_.back();
    free_.pop_back();
    blocks_[slot.number - 1] = block;
  }
  return std::nullopt;
}

std::optional<LiveBlock> BlockTable::take(std::uint64_t key) {
  if (slots_.empty()) {
    return std::nullopt;
  }
  const std::size_t place = place_of(key);
  const std::uint32_t number = slots_[place].number;
  if (number == 0) {
    return std::nullopt;
  }
  free_.push_back(number);
  close_gap(place);
  return blocks_[number - 1];
}

// What stands behind the gap and was to stand in it or before it moves up: a search ends at an
// empty slot.
void BlockTable::close_gap(std::size_t gap) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t place = after(gap); slots_[place].number != 0; place = after(place)) {
    const std::size_t distance = (place - home_of(slots_[place].hash)) & mask;
    if (distance >= ((place - gap) & mask)) {
      slots_[gap] = slots_[place];
      gap = place;
    }
  }
  slots_[gap] = {};
}

void BlockTable::grow() {
  const std::vector<Slot> before = std::move(slots_);
  slots_.assign(std::max(kFirstSlots, before.size() * 2), Slot());
  for (const Slot& slot : before) {
    if (slot.number == 0) {
      continue;
    }
    std::size_t place = home_of(slot.hash);
    while (slots_[place].number != 0) {
      place = after(place);
    }
    slots_[place] = slot;
  }
}

}  // namespace memtrace
