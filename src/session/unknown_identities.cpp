#include "session/unknown_identities.h"

#include <string>

#include "base/units.h"

namespace memtrace {

void UnknownIdentities::count(const IdentityTable& identities, IdentityId identity) {
  users_ += identities.knows_user(identity) ? 0U : 1U;
  cgroups_ += identities.knows_cgroup(identity) ? 0U : 1U;
}

void UnknownIdentities::count_left_out(TaskFilter::Verdict verdict) {
  using Verdict = TaskFilter::Verdict;
  by_name_ += verdict == Verdict::UnknownName ? 1U : 0U;
  by_user_ += verdict == Verdict::UnknownUser ? 1U : 0U;
  by_cgroup_ += verdict == Verdict::UnknownCgroup ? 1U : 0U;
}

void UnknownIdentities::note(const ViewOptions& options,
                             bool has_identities,
                             Caveats& caveats) const {
  const auto note = [&caveats](std::uint64_t count, const char* one, const char* many) {
    if (count > 0) {
      caveats.notes.push_back(counted(count, one, many));
    }
  };
  note(by_name_,
       "event of a task whose name is not known was left out by --comm",
       "events of tasks whose name is not known were left out by --comm");
  const std::uint64_t unknown = users_ + cgroups_ + by_user_ + by_cgroup_;
  const bool asks =
      options.tasks.asks_identity() || options.has_user_key() || options.has_cgroup_key();
  if (!asks || unknown == 0) {
    return;
  }
  if (!has_identities) {
    caveats.notes.push_back(
        std::string(
            "the recording does not have the users and cgroups of processes, which memtrace "
            "record stores and perf record does not: all events are ") +
        (options.tasks.asks_identity() ? "left out by --uid and --cgroup" : "without an owner"));
    return;
  }
  note(by_user_,
       "event of a process whose user is not known was left out by --uid",
       "events of processes whose user is not known were left out by --uid");
  note(by_cgroup_,
       "event of a process whose cgroup is not known was left out by --cgroup",
       "events of processes whose cgroup is not known were left out by --cgroup");
  if (options.has_user_key()) {
    note(users_,
         "event is of a process whose user at that time is not known",
         "events are of processes whose user at that time is not known");
  }
  if (options.has_cgroup_key()) {
    note(cgroups_,
         "event is of a process whose cgroup at that time is not known",
         "events are of processes whose cgroup at that time is not known");
  }
}

}  // namespace memtrace
