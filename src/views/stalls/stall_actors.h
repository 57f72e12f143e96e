// Who causes stalls and who has them: the keys of a report, and the cgroup that decides whose
// reclaim it takes part in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "base/hash_map.h"
#include "base/ids.h"
#include "views/kit/keys.h"

namespace memtrace {

// Actors have numbers from 0 on, which stay.
class StallActors {
 public:
  struct Actor {
    KeyWords keys;
    IdentityId identity;

    friend bool operator==(const Actor& left, const Actor& right) {
      return left.keys == right.keys && left.identity.value == right.identity.value;
    }
  };

  std::uint32_t number_of(const Actor& actor) {
    const auto [found, is_new] =
        numbers_.try_emplace(actor, static_cast<std::uint32_t>(actors_.size()));
    if (is_new) {
      actors_.push_back(actor);
    }
    return found->second;
  }

  const Actor& at(std::uint32_t number) const { return actors_[number]; }

  std::size_t size() const { return actors_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const Actor& actor) const {
      return hash_words(actor.keys.words, actor.identity.value);
    }
  };

  HashMap<Actor, std::uint32_t, Hash> numbers_;
  std::vector<Actor> actors_;
};

}  // namespace memtrace
