#include "identity/process_search.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace {
namespace {

using Users = std::set<std::uint32_t>;

Result<Users> find_users(const std::vector<std::string>& names, const std::string& passwd) {
  const auto known = parse_passwd(passwd);
  Users users;
  for (const std::string& name : names) {
    const auto uid = parse_number(name);
    const auto found =
        std::ranges::find_if(known, [&name](const auto& user) { return user.second == name; });
    constexpr std::uint64_t kLargest = 0xffff'ffff;  // of uid_t
    if (uid ? *uid > kLargest : found == known.end()) {
      return Error{"unknown user '" + name + "'",
                   0,
                   "give a name that is in /etc/passwd, or a number of 32 bits",
                   ErrorKind::Usage};
    }
    users.insert(uid ? static_cast<std::uint32_t>(*uid) : found->first);
  }
  return users;
}

bool is_in(const std::vector<std::string>& cgroups, const std::string& path) {
  return cgroups.empty() || std::ranges::any_of(cgroups, [&path](const std::string& text) {
           return path.find(text) != std::string::npos;
         });
}

Error nobody(const ProcessSearch& search) {
  std::vector<std::string> parts;
  if (!search.users.empty()) {
    parts.push_back("of user " + join(search.users, " or "));
  }
  if (!search.cgroups.empty()) {
    parts.push_back("in a cgroup with " + join(search.cgroups, " or ") + " in its path");
  }
  return {"no process " + join(parts, " ") + " runs",
          0,
          "ps -eo pid,ruser,cgroup,args shows who runs where; with -a, reports take --uid and "
          "--cgroup for processes that start later",
          ErrorKind::Usage};
}

}  // namespace

RunningProcesses RunningProcesses::now() {
  auto pids = process_ids();
  auto passwd = read_file("/etc/passwd");
  RunningProcesses running{.pids = pids.ok() ? pids.take() : std::vector<std::uint32_t>(),
                           .passwd = passwd.ok() ? passwd.take() : ""};
  std::erase_if(running.pids, [own = static_cast<std::uint32_t>(::getpid())](std::uint32_t pid) {
    return pid == own || is_kernel_thread(pid);
  });
  return running;
}

Result<std::vector<std::uint32_t>> find_processes(const ProcessSearch& search,
                                                  const RunningProcesses& running) {
  const auto users = find_users(search.users, running.passwd);
  if (!users.ok()) {
    return users.error();
  }
  std::vector<std::uint32_t> found;
  for (const std::uint32_t pid : running.pids) {
    const auto seen = running.read(pid);
    if (seen && !seen->ended && is_in(search.cgroups, seen->cgroup) &&
        (users.value().empty() || users.value().contains(seen->uid))) {
      found.push_back(pid);
    }
  }
  std::ranges::sort(found);
  return found.empty() ? Result<std::vector<std::uint32_t>>(nobody(search)) : found;
}

}  // namespace memtrace
