// [start, limit) -> value, where a later interval cuts away what it covers, as mmap(2) does.
//
//   assign(0, 10, a)   |aaaaaaaaaa|
//   assign(3, 6, b)    |aaa|bbb|aaaa|
//   erase(5, 8)        |aaa|bb|   |aa|
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace memtrace {

template <typename Value>
class IntervalMap {
 public:
  struct Entry {
    std::uint64_t start = 0;
    std::uint64_t limit = 0;
    Value value{};
  };

  // True when something that was there before was cut or replaced.
  bool assign(std::uint64_t start, std::uint64_t limit, Value value) {
    if (start >= limit) {
      return false;
    }
    const bool replaced = erase(start, limit);
    entries_[start] = Entry{start, limit, std::move(value)};
    covered_ += limit - start;
    return replaced;
  }

  // True when something was there.
  bool erase(std::uint64_t start, std::uint64_t limit) {
    if (start >= limit) {
      return false;
    }
    const bool cut_start = split(start);
    const bool cut_limit = split(limit);
    const auto first = entries_.lower_bound(start);
    const auto last = entries_.lower_bound(limit);
    const bool removed = first != last;
    for (auto entry = first; entry != last; ++entry) {
      covered_ -= entry->second.limit - entry->second.start;
    }
    entries_.erase(first, last);
    return removed || cut_start || cut_limit;
  }

  const Entry* find(std::uint64_t point) const {
    auto after = entries_.upper_bound(point);
    if (after == entries_.begin()) {
      return nullptr;
    }
    const Entry& entry = std::prev(after)->second;
    return point < entry.limit ? &entry : nullptr;
  }

  const std::map<std::uint64_t, Entry>& entries() const { return entries_; }

  // The lengths of all intervals together.
  std::uint64_t covered() const { return covered_; }

  void clear() {
    entries_.clear();
    covered_ = 0;
  }

  bool empty() const { return entries_.empty(); }

 private:
  // Makes `point` a boundary. Values are copied to both halves unchanged: a value that depends on
  // its interval's start must hold that start itself.
  bool split(std::uint64_t point) {
    auto after = entries_.lower_bound(point);
    if (after == entries_.begin()) {
      return false;
    }
    Entry& left = std::prev(after)->second;
    if (left.limit <= point) {
      return false;
    }
    entries_.emplace_hint(after, point, Entry{point, left.limit, left.value});
    left.limit = point;
    return true;
  }

  std::map<std::uint64_t, Entry> entries_;
  std::uint64_t covered_ = 0;
};

}  // namespace memtrace
