// What the kernel itself announces of users and cgroups while memtrace looks: processes that are
// moved to another cgroup or become another user. A child begins as what its parent is, so with
// these and the records of forks it is known at each moment whom a process belongs to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "state/process/identity_table.h"

namespace memtrace {

struct Announcement {
  enum class Kind : std::uint8_t {
    Moved,    // pid is in `cgroup` now; "": in one whose path was not reported
    Renamed,  // there is a cgroup `cgroup` now that had another name
    User,     // thread tid of pid is `uid` now
    Lost,     // some were lost
  };

  std::uint64_t time_ns = 0;
  Kind kind = Kind::Lost;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t uid = kUnknownUser;
  std::string cgroup = {};
};

class Announcements {
 public:
  Announcements() = default;
  Announcements(const Announcements&) = delete;
  Announcements& operator=(const Announcements&) = delete;
  Announcements(Announcements&&) = delete;
  Announcements& operator=(Announcements&&) = delete;
  virtual ~Announcements() = default;

  // Whether each change is reported.
  virtual bool tell_users() const = 0;
  virtual bool tell_cgroups() const = 0;

  // What has come since the last call, by time.
  virtual std::vector<Announcement> take() = 0;
};

// From now on. `monotonic_clock`: the records of the recording have CLOCK_MONOTONIC.
std::unique_ptr<Announcements> kernel_announcements(bool monotonic_clock);

}  // namespace memtrace
