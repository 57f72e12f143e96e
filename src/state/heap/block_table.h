// Live blocks by their addresses. Blocks stay where they are, and what finds them is small: the
// table moves its entries. Neighbouring blocks come and go together, and their entries share a line
// of the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "state/heap/live_block.h"

namespace memtrace {

class BlockTable {
 public:
  // Most blocks are at least 2^spacing bytes or pages apart. Closer ones are found more slowly.
  explicit BlockTable(unsigned spacing) : spacing_(spacing) {}

  // Valid until the next put(); null when the address is none of a block.
  const LiveBlock* find(std::uint64_t key) const {
    const std::uint32_t number = slots_.empty() ? 0 : slots_[place_of(key)].number;
    return number == 0 ? nullptr : &blocks_[number - 1];
  }

  // By its key. The result is the block that had the address before.
  std::optional<LiveBlock> put(const LiveBlock& block);

  // Takes the block away; nothing when the address is none of a block.
  std::optional<LiveBlock> take(std::uint64_t key);

  std::size_t size() const { return blocks_.size() - free_.size(); }

  bool empty() const { return size() == 0; }

  // Each block, in no order.
  template <typename Visitor>
  void for_each(Visitor visit) const {
    for (const Slot& slot : slots_) {
      if (slot.number != 0) {
        visit(blocks_[slot.number - 1]);
      }
    }
  }

  // The same to change them, but for their keys.
  template <typename Visitor>
  void change_each(Visitor visit) {
    for (const Slot& slot : slots_) {
      if (slot.number != 0) {
        visit(blocks_[slot.number - 1]);
      }
    }
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = 0;  // of the block, from 1 on; 0: empty
  };

  // Eight neighbours have the eight slots of one line of the cache. What is below the spacing only
  // distinguishes blocks, in bits that choose a slot in enormous tables alone.
  std::uint32_t hash_of(std::uint64_t key) const {
    const std::uint64_t unit = key >> spacing_;
    const std::uint64_t home = (mix(unit / 8) >> 32U) ^ (unit % 8);
    return static_cast<std::uint32_t>(home ^ ((key - (unit << spacing_)) << 24U));
  }

  std::size_t home_of(std::uint32_t hash) const { return hash & (slots_.size() - 1); }

  std::size_t after(std::size_t place) const { return (place + 1) & (slots_.size() - 1); }

  // Of the key's slot, or of the empty one that would be its own.
  std::size_t place_of(std::uint64_t key) const {
    const std::uint32_t hash = hash_of(key);
    std::size_t place = home_of(hash);
    while (slots_[place].number != 0 &&
           (slots_[place].hash != hash || blocks_[slots_[place].number - 1].key != key)) {
      place = after(place);
    }
    return place;
  }

  void grow();
  void close_gap(std::size_t gap);

  unsigned spacing_ = 0;
  std::vector<Slot> slots_;  // a power of two
  std::vector<LiveBlock> blocks_;
  std::vector<std::uint32_t>
      free_;  // numbers of blocks that were taken: the last one is still cached
};

}  // namespace memtrace
