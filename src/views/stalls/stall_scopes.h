// Whose memory a reclaim is about: all of the machine's, or that of one cgroup and those below it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash_map.h"
#include "base/ids.h"
#include "state/process/identity_table.h"

namespace memtrace {

class StallScopes {
 public:
  static constexpr std::uint32_t kMachine = 0;

  // A cgroup by its path. "" and "/" are the whole machine.
  std::uint32_t of(std::string_view cgroup);

  // Whether memory of this process is charged to the scope. Nothing is known
  // of one whose cgroup is not: it is only the machine's.
  bool contains(std::uint32_t scope, IdentityId identity, const IdentityTable& identities) const;

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> paths_ = {""};
  mutable HashMap<std::uint64_t, bool> known_;  // by scope and identity
};

}  // namespace memtrace
