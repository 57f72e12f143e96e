// --comm, --pid, --tid, --uid and --cgroup: whose events a report is about; and since when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "state/world/world.h"

namespace memtrace {

// Each list may be empty and then lets all pass.
struct TaskFilter {
  std::vector<std::string> comms = {};   // threads with these names; * and ? may be in them
  std::vector<std::uint32_t> pids = {};  // these processes
  std::vector<std::uint32_t> tids = {};  // these threads
  std::vector<std::uint32_t> uids = {};  // processes of these users
  std::vector<std::string> users = {};   // or of users with these names
  std::vector<std::string> cgroups =
      {};  // processes whose cgroup's path or container has this text

  bool empty() const { return comms.empty() && pids.empty() && tids.empty() && !asks_identity(); }

  bool asks_identity() const { return asks_user() || !cgroups.empty(); }

  bool asks_user() const { return !uids.empty() || !users.empty(); }

  // Unknown: what it asks for is not known of the task, and nothing else speaks against it.
  enum class Verdict : std::uint8_t { Accepted, Refused, UnknownName, UnknownUser, UnknownCgroup };

  // For an event, or for a block by the task that allocated it.
  template <typename Subject>
  Verdict judge(const World& world, const Subject& subject) const {
    if (subject.time_ns < world.counted_from_ns()) {
      return Verdict::Refused;
    }
    return empty() ? Verdict::Accepted
                   : judge_task(world, {subject.pid, subject.tid, subject.comm, subject.identity});
  }

  template <typename Subject>
  bool accepts(const World& world, const Subject& subject) const {
    return judge(world, subject) == Verdict::Accepted;
  }

  // A process as a whole, by its first thread.
  bool accepts_process(const World& world, std::uint32_t pid) const {
    return empty() ||
           judge_task(world,
                      {pid, pid, world.processes().comm(pid, pid), world.identity_of(pid)}) ==
               Verdict::Accepted;
  }

 private:
  struct Task {
    std::uint32_t pid = 0, tid = 0;
    StringId comm;
    IdentityId identity;
  };

  Verdict judge_task(const World& world, const Task& task) const;
  bool accepts_user(const IdentityTable& identities, IdentityId identity) const;
  bool accepts_cgroup(const IdentityTable& identities, IdentityId identity) const;
};

}  // namespace memtrace
