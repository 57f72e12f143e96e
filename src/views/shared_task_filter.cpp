#include "views/shared_task_filter.h"

namespace memtrace {
namespace {

bool is_among(const auto& values, const auto& value) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace

bool TaskFilter::accepts_task(const World& world, const Task& task) const {
  return (comms.empty() || is_among(comms, world.strings().at(task.comm))) &&
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
