#include "views/stalls/stall_scopes.h"

namespace memtrace {
namespace {

bool is_within(std::string_view path, std::string_view outer) {
  return path.starts_with(outer) && (path.size() == outer.size() || path[outer.size()] == '/');
}

}  // namespace

std::uint32_t StallScopes::of(std::string_view cgroup) {
  if (cgroup.size() <= 1) {
    return kMachine;
  }
  const auto [found, is_new] =
      numbers_.try_emplace(std::string(cgroup), static_cast<std::uint32_t>(paths_.size()));
  if (is_new) {
    paths_.emplace_back(cgroup);
  }
  return found->second;
}

bool StallScopes::contains(std::uint32_t scope,
                           IdentityId identity,
                           const IdentityTable& identities) const {
  if (scope == kMachine || !identities.knows_cgroup(identity)) {
    return scope == kMachine;
  }
  const std::uint64_t key = (std::uint64_t{scope} << 32U) | identity.value;
  const auto [found, is_new] = known_.try_emplace(key, false);
  if (is_new) {
    found.value() = is_within(identities.cgroup(identity), paths_[scope]);
  }
  return found->second;
}

}  // namespace memtrace
