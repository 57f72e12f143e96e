// A table of a bounded size that forgets what was put there longest ago, half of it at a time.
#pragma once

#include <cstddef>
#include <utility>

#include "base/hash_map.h"

namespace memtrace {

template <typename Key, typename Value, typename Hash = std::hash<Key>>
class AgingMap {
 public:
  // There are up to twice as many entries.
  explicit AgingMap(std::size_t max_young) : max_young_(max_young) {}

  bool empty() const { return young_.empty() && old_.empty(); }

  // Null when there is none. Valid until the next put() or erase().
  const Value* find(const Key& key) const {
    for (const Map* map : {&young_, &old_}) {
      if (const auto found = map->find(key); found != map->end()) {
        return &found->second;
      }
    }
    return nullptr;
  }

  void put(const Key& key, const Value& value) {
    if (young_.size() >= max_young_) {
      old_ = std::exchange(young_, {});
    }
    young_[key] = value;
  }

  void erase(const Key& key) {
    young_.erase(key);
    old_.erase(key);
  }

 private:
  using Map = HashMap<Key, Value, Hash>;

  std::size_t max_young_;
  Map young_;
  Map old_;  // an entry of a key that young_ has, too, does not count
};

}  // namespace memtrace
