#include "views/shared_task_filter.h"

#include <fnmatch.h>

namespace memtrace {
namespace {

bool matches(const std::vector<std::string>& patterns, std::string_view comm) {
  const std::string name(comm);
  return std::ranges::any_of(patterns, [&name](const std::string& pattern) {
    return pattern == name || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

bool is_among(const auto& values, const auto& value) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace

bool TaskFilter::accepts_task(const World& world, const Task& task) const {
  return (comms.empty() || matches(comms, world.strings().at(task.comm))) &&
         (pids.empty() || is_among(pids, task.pid)) && (tids.empty() || is_among(tids, task.tid)) &&
         accepts_user(world.identities(), task.identity) &&
         accepts_cgroup(world.identities(), task.identity);
}

bool TaskFilter::accepts_user(const IdentityTable& identities, IdentityId identity) const {
  if (uids.empty() && users.empty()) {
    return true;
  }
  return identity.valid() && (is_among(uids, identities.uid(identity)) ||
                              (!users.empty() && is_among(users, identities.user(identity))));
}

bool TaskFilter::accepts_cgroup(const IdentityTable& identities, IdentityId identity) const {
  if (cgroups.empty()) {
    return true;
  }
  const auto is_in = [&](const std::string& text) {
    return identities.cgroup(identity).find(text) != std::string_view::npos ||
           identities.container(identity).find(text) != std::string_view::npos;
  };
  return identity.valid() && std::ranges::any_of(cgroups, is_in);
}

}  // namespace memtrace
