// Hash tables for what is looked up millions of times: those of tsl (robin-map). Any insertion or
// erasure may move the other elements: iterators, pointers and references to them end there.
//
// With MEMTRACE_CHECKED_TABLES (the sanitized builds) a program ends where it follows end(), or an
// iterator that an insertion or erasure has outdated. AddressSanitizer does not see either: the
// table is one array, with room behind its last element.
#pragma once

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

namespace memtrace {

#ifndef MEMTRACE_CHECKED_TABLES

template <typename Key, typename Value, typename Hash = std::hash<Key>>
using HashMap = tsl::robin_map<Key, Value, Hash>;
template <typename Key,
          typename Hash = std::hash<Key>,
          typename Equal = std::equal_to<Key>,
          typename Allocator = std::allocator<Key>,
          bool kKeepsHashes = false>
using HashSet = tsl::robin_set<Key, Hash, Equal, Allocator, kKeepsHashes>;

#else

// How often a table changed. A copy or a moved table is a table of its own, with iterators of its
// own.
class TableChanges {
 public:
  TableChanges() = default;

  TableChanges(const TableChanges& /*other*/) {}

  TableChanges(TableChanges&& other) noexcept { ++other.count_; }

  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): there is nothing to copy.
  TableChanges& operator=(const TableChanges& /*other*/) {
    ++count_;
    return *this;
  }

  TableChanges& operator=(TableChanges&& other) noexcept {
    ++count_;
    ++other.count_;
    return *this;
  }

  ~TableChanges() = default;

  void add() { ++count_; }

  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

// An iterator of robin-map that knows where its table ends and whether the table has changed since.
template <typename Iterator>
class CheckedIterator {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the standard library looks for these names.
  using iterator_category = typename Iterator::iterator_category;
  using value_type = typename Iterator::value_type;
  using difference_type = typename Iterator::difference_type;
  using reference = typename Iterator::reference;
  using pointer = typename Iterator::pointer;
  // NOLINTEND(readability-identifier-naming)

  CheckedIterator() = default;

  CheckedIterator(Iterator at, Iterator end, const TableChanges& changes)
      : at_(at), end_(end), changes_(&changes), count_(changes.count()) {}

  // From an iterator to one that does not change its element.
  template <typename Other>
  CheckedIterator(const CheckedIterator<Other>& other)  // NOLINT(google-explicit-constructor)
      : at_(other.at_), end_(other.end_), changes_(other.changes_), count_(other.count_) {}

  reference operator*() const { return *followed(); }

  pointer operator->() const { return followed().operator->(); }

  decltype(auto) key() const { return followed().key(); }

  decltype(auto) value() const { return followed().value(); }

  CheckedIterator& operator++() {
    at_ = followed();
    ++at_;
    return *this;
  }

  CheckedIterator operator++(int) {
    const CheckedIterator before = *this;
    ++*this;
    return before;
  }

  friend bool operator==(const CheckedIterator& left, const CheckedIterator& right) {
    return left.at_ == right.at_;
  }

  Iterator followed() const {
    require(changes_ != nullptr && count_ == changes_->count(),
            "an iterator is older than a change");
    require(!(at_ == end_), "end() of a table is followed");
    return at_;
  }

 private:
  template <typename Other>
  friend class CheckedIterator;

  static void require(bool holds, const char* what) {
    if (!holds) {
      std::fprintf(stderr, "hash_map.h: %s\n", what);
      std::abort();
    }
  }

  Iterator at_{};
  Iterator end_{};
  const TableChanges* changes_ = nullptr;
  std::uint64_t count_ = 0;
};

// robin-map's tables with iterators that are checked. Each change outdates them all, also one that
// does not happen to move their elements.
template <typename Table>
class CheckedTable : public Table {
 public:
  // NOLINTBEGIN(readability-identifier-naming): as in Table.
  using iterator = CheckedIterator<typename Table::iterator>;
  using const_iterator = CheckedIterator<typename Table::const_iterator>;
  // NOLINTEND(readability-identifier-naming)

  using Table::Table;

  iterator begin() { return checked(Table::begin()); }

  iterator end() { return checked(Table::end()); }

  const_iterator begin() const { return checked(Table::begin()); }

  const_iterator end() const { return checked(Table::end()); }

  template <typename Key>
  iterator find(const Key& key) {
    return checked(Table::find(key));
  }

  template <typename Key>
  const_iterator find(const Key& key) const {
    return checked(Table::find(key));
  }

  template <typename Value>
  std::pair<iterator, bool> insert(Value&& value) {
    return changed(Table::insert(std::forward<Value>(value)));
  }

  template <typename... Arguments>
  std::pair<iterator, bool> emplace(Arguments&&... arguments) {
    return changed(Table::emplace(std::forward<Arguments>(arguments)...));
  }

  template <typename... Arguments>
  std::pair<iterator, bool> try_emplace(const typename Table::key_type& key,
                                        Arguments&&... arguments) {
    return changed(Table::try_emplace(key, std::forward<Arguments>(arguments)...));
  }

  template <typename Key, typename Value>
  std::pair<iterator, bool> insert_or_assign(Key&& key, Value&& value) {
    return changed(Table::insert_or_assign(std::forward<Key>(key), std::forward<Value>(value)));
  }

  auto& operator[](const typename Table::key_type& key) { return at_or_new(key); }

  auto& operator[](typename Table::key_type&& key) { return at_or_new(std::move(key)); }

  iterator erase(iterator place) {
    const auto inner = place.followed();
    changes_.add();
    return checked(Table::erase(inner));
  }

  template <typename Key>

  requires(!std::is_convertible_v<Key, iterator>) std::size_t erase(const Key& key) {
    const std::size_t erased = Table::erase(key);
    if (erased != 0) {
      changes_.add();
    }
    return erased;
  }

  void clear() {
    changes_.add();
    Table::clear();
  }

 private:
  template <typename Key>
  auto& at_or_new(Key&& key) {
    const auto before = this->size();
    auto& value = Table::operator[](std::forward<Key>(key));
    if (this->size() != before) {
      changes_.add();
    }
    return value;
  }

  iterator checked(typename Table::iterator place) { return {place, Table::end(), changes_}; }

  const_iterator checked(typename Table::const_iterator place) const {
    return {place, Table::end(), changes_};
  }

  std::pair<iterator, bool> changed(std::pair<typename Table::iterator, bool> outcome) {
    if (outcome.second) {
      changes_.add();
    }
    return {checked(outcome.first), outcome.second};
  }

  TableChanges changes_;
};

template <typename Key, typename Value, typename Hash = std::hash<Key>>
using HashMap = CheckedTable<tsl::robin_map<Key, Value, Hash>>;
template <typename Key,
          typename Hash = std::hash<Key>,
          typename Equal = std::equal_to<Key>,
          typename Allocator = std::allocator<Key>,
          bool kKeepsHashes = false>
using HashSet = CheckedTable<tsl::robin_set<Key, Hash, Equal, Allocator, kKeepsHashes>>;

#endif

}  // namespace memtrace
