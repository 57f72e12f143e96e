// The processes of users and cgroups that run by now.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "identity/identity_watch.h"

namespace memtrace {

// Each list may be empty and then lets all pass.
struct ProcessSearch {
  std::vector<std::string> users;    // numbers or names: the real user, as `ps -o ruser` shows it
  std::vector<std::string> cgroups;  // parts of the path that memory is counted for
};

// What is looked at, for tests.
struct RunningProcesses {
  std::vector<std::uint32_t> pids;  // without kernel threads
  std::function<std::optional<SeenProcess>(std::uint32_t pid)> read = read_process;
  std::string passwd;  // the text of /etc/passwd

  static RunningProcesses now();
};

// In the order of their ids, without memtrace itself. Error: Usage, no such user, or no process.
Result<std::vector<std::uint32_t>> find_processes(const ProcessSearch& search,
                                                  const RunningProcesses& running);

}  // namespace memtrace
