// Recent answers, in a table of a fixed size. A question costs at most one cache miss. The table
// forgets an answer when another one takes its slot. It knows questions by their 64-bit hash alone:
// it confuses two of them about once in 10^19 times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memtrace {

// `Answer` is an id, none of which is "not known".
template <typename Answer>
class RecentIds {
 public:
  static constexpr unsigned kSlotBits = 16;
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;  // 1 MiB

  // The id that is none, where it is not known.
  Answer find(std::uint64_t hash) const {
    const Slot& slot = slots_[slot_of(hash)];
    return slot.hash == hash ? slot.answer : Answer();
  }

  void put(std::uint64_t hash, Answer answer) { slots_[slot_of(hash)] = {hash, answer}; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    Answer answer;
  };

  static std::size_t slot_of(std::uint64_t hash) { return hash >> (64U - kSlotBits); }

  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
};

}  // namespace memtrace
