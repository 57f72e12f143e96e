// Costs by their keys. The rows lie one behind the other in the order in which they came, and the
// table that finds them holds their numbers alone: of a million rows it is the memory that counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "views/kit/keys.h"

namespace memtrace {

template <typename Cost>
class KeyedRows {
 public:
  // Only this many words of the keys take part: most reports have one key.
  explicit KeyedRows(std::size_t key_count) : key_count_(key_count) {}

  // Of a row that is new: zero. Valid until the next call.
  Cost& operator[](const KeyWords& keys) {
    if ((costs_.size() + 1) * 4 > slots_.size() * 3) {  // at most 3 of 4 are used
      grow();
    }
    const auto words = std::span(keys.words).first(key_count_);
    const std::uint64_t hash = hash_words(words);
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].number != 0) {
      const std::size_t row = slots_[at].number - 1;
      if (slots_[at].hash == upper(hash) && is_at(row, words)) {
        return costs_[row];
      }
      at = (at + 1) & (slots_.size() - 1);
    }
    words_.insert(words_.end(), words.begin(), words.end());
    slots_[at] = {upper(hash), static_cast<std::uint32_t>(costs_.size() + 1)};
    return costs_.emplace_back();
  }

  std::size_t size() const { return costs_.size(); }

  // Not after forget_index().
  std::optional<std::size_t> find(const KeyWords& keys) const {
    const auto words = std::span(keys.words).first(key_count_);
    const std::uint64_t hash = hash_words(words);
    for (std::size_t at = hash; !slots_.empty(); ++at) {
      const Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.number == 0) {
        return std::nullopt;
      }
      if (slot.hash == upper(hash) && is_at(slot.number - 1, words)) {
        return slot.number - 1;
      }
    }
    return std::nullopt;
  }

  // Of one that operator[] returned last.
  std::size_t row_of(const Cost& cost) const {
    return static_cast<std::size_t>(&cost - costs_.data());
  }

  Cost& cost(std::size_t row) { return costs_[row]; }

  const Cost& cost(std::size_t row) const { return costs_[row]; }

  KeyWords keys(std::size_t row) const {
    KeyWords keys;
    std::ranges::copy(words_of(row), keys.words.begin());
    return keys;
  }

  // For rows that are only read from now on.
  void forget_index() { slots_ = {}; }

 private:
  struct Slot {
    std::uint32_t hash = 0;    // the upper half
    std::uint32_t number = 0;  // of the row, from 1 on; 0: empty
  };

  static constexpr std::size_t kFirstSlots = 16;

  static std::uint32_t upper(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32U); }

  std::span<const std::uint64_t> words_of(std::size_t row) const {
    return std::span<const std::uint64_t>{words_}.subspan(row * key_count_, key_count_);
  }

  // A loop: most keys are one or two words, and memcmp() is a call.
  bool is_at(std::size_t row, std::span<const std::uint64_t> words) const {
    const std::uint64_t* own = &words_[row * key_count_];
    for (const std::uint64_t word : words) {
      if (*own++ != word) {
        return false;
      }
    }
    return true;
  }

  void grow() {
    slots_.assign(std::max(kFirstSlots, slots_.size() * 2), Slot());
    for (std::size_t row = 0; row < costs_.size(); ++row) {
      const std::uint64_t hash = hash_words(words_of(row));
      std::size_t at = hash & (slots_.size() - 1);
      while (slots_[at].number != 0) {
        at = (at + 1) & (slots_.size() - 1);
      }
      slots_[at] = {upper(hash), static_cast<std::uint32_t>(row + 1)};
    }
  }

  std::size_t key_count_ = 0;
  std::vector<std::uint64_t> words_;  // key_count_ of each row
  std::vector<Cost> costs_;
  std::vector<Slot> slots_;  // a power of two
};

}  // namespace memtrace
