#include "views/task_filter.h"

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

TaskFilter::Verdict TaskFilter::judge_task(const World& world, const Task& task) const {
  const IdentityTable& identities = world.identities();
  // The idle task has no name to filter by.
  const bool has_name = task.comm.valid() || task.pid == 0;
  const bool has_user = identities.knows_user(task.identity);
  const bool has_cgroup = identities.knows_cgroup(task.identity);
  if ((!pids.empty() && !is_among(pids, task.pid)) ||
      (!tids.empty() && !is_among(tids, task.tid)) ||
      (has_name && !comms.empty() && !matches(comms, world.strings().at(task.comm))) ||
      (has_user && !accepts_user(identities, task.identity)) ||
      (has_cgroup && !accepts_cgroup(identities, task.identity))) {
    return Verdict::Refused;
  }
  if (!comms.empty() && !has_name) {
    return Verdict::UnknownName;
  }
  if (asks_user() && !has_user) {
    return Verdict::UnknownUser;
  }
  return cgroups.empty() || has_cgroup ? Verdict::Accepted : Verdict::UnknownCgroup;
}

// The identity is known.
bool TaskFilter::accepts_user(const IdentityTable& identities, IdentityId identity) const {
  return !asks_user() || is_among(uids, identities.uid(identity)) ||
         (!users.empty() && is_among(users, identities.user(identity)));
}

// The identity is known.
bool TaskFilter::accepts_cgroup(const IdentityTable& identities, IdentityId identity) const {
  const auto is_in = [&](const std::string& text) {
    return identities.cgroup(identity).find(text) != std::string_view::npos ||
           identities.container(identity).find(text) != std::string_view::npos;
  };
  return cgroups.empty() || std::ranges::any_of(cgroups, is_in);
}

}  // namespace memtrace
