// Entries that are kept once each, with numbers from 1 on. They lie in a vector, and the set that
// finds them holds their numbers alone: millions of entries cost 24 bytes each beside their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/hash_map.h"
#include "state/process/steady_vector.h"

namespace memtrace {

template <typename Entry, typename EntryHash>
class Numbered {
 public:
  Numbered() = default;
  Numbered(const Numbered&) = delete;  // the set looks into the vector
  Numbered& operator=(const Numbered&) = delete;
  Numbered(Numbered&&) = delete;
  Numbered& operator=(Numbered&&) = delete;
  ~Numbered() = default;

  // The entry's number, new or not. One thread at a time may call this and add_unlisted().
  std::uint32_t number(const Entry& entry) {
    if (const auto found = numbers_.find(entry); found != numbers_.end()) {
      return *found;
    }
    entries_.push_back(entry);
    const auto number = static_cast<std::uint32_t>(entries_.size());
    numbers_.insert(number);
    return number;
  }

  // An entry that its user finds otherwise: number() does not know it.
  std::uint32_t add_unlisted(const Entry& entry) {
    entries_.push_back(entry);
    return static_cast<std::uint32_t>(entries_.size());
  }

  const Entry& operator[](std::uint32_t number) const { return entries_[number - 1]; }

  std::size_t size() const { return entries_.size(); }

 private:
  struct Lookup {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the set asks for it
    const SteadyVector<Entry>* entries;

    const Entry& entry(std::uint32_t number) const { return (*entries)[number - 1]; }

    static const Entry& entry(const Entry& entry) { return entry; }
  };

  struct Hash : Lookup {
    template <typename Key>
    std::size_t operator()(const Key& key) const {
      return EntryHash()(this->entry(key));
    }
  };

  struct Equal : Lookup {
    template <typename Left, typename Right>
    bool operator()(const Left& left, const Right& right) const {
      return this->entry(left) == this->entry(right);
    }
  };

  static constexpr bool kKeepsHashes = true;  // most entries are told apart without a look at them

  SteadyVector<Entry> entries_;
  HashSet<std::uint32_t, Hash, Equal, std::allocator<std::uint32_t>, kKeepsHashes> numbers_{
      0, Hash{{&entries_}}, Equal{{&entries_}}};
};

}  // namespace memtrace
