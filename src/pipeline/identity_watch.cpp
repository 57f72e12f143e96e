#include "pipeline/identity_watch.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/system.h"
#include "base/text.h"
#include "perf/proc_snapshot.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kReadAgainNs = 1'000'000'000;

// "Uid:\t1000\t1000\t..." -> "1000\t1000\t..."; "" when there is no such line.
std::string_view status_value(std::string_view status, std::string_view name) {
  for (const std::string_view line : split(status, '\n')) {
    if (line.starts_with(name)) {
      return trim(line.substr(name.size()));
    }
  }
  return {};
}

// Lines are HIERARCHY:CONTROLLERS:PATH (cgroups(7)). Where the memory controller has a hierarchy of
// its own it is the one that counts; 0 is that of version 2, which a hybrid machine has besides.
std::string_view memory_cgroup(std::string_view cgroups) {
  constexpr auto kKinds = std::to_array<std::string_view>({"memory", "", "name=systemd"});
  std::array<std::string_view, kKinds.size()> paths;
  for (const std::string_view line : split(cgroups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) {
      continue;
    }
    const auto controllers = split(line.substr(first + 1, second - first - 1), ',');
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      if (std::find(controllers.begin(), controllers.end(), kKinds[i]) != controllers.end()) {
        paths[i] = line.substr(second + 1);
      }
    }
  }
  const auto found =
      std::find_if(paths.begin(), paths.end(), [](std::string_view path) { return !path.empty(); });
  return found == paths.end() ? std::string_view() : *found;
}

}  // namespace

std::string_view known_cgroup(const World& world, const Event& event) {
  return event.identity.valid() ? world.identities().cgroup(event.identity) : std::string_view();
}

std::optional<SeenProcess> parse_process(std::string_view status, std::string_view cgroups) {
  const std::string_view uids = status_value(status, "Uid:");
  const auto uid = parse_number(uids.substr(0, uids.find('\t')));
  if (!uid || *uid > std::numeric_limits<std::uint32_t>::max()) {
    return std::nullopt;
  }
  std::string_view path = memory_cgroup(cgroups);
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) {
    path.remove_suffix(kDeleted.size());
  }
  const std::string_view state = status_value(status, "State:");
  return SeenProcess{.uid = static_cast<std::uint32_t>(*uid),
                     .cgroup = std::string(path),
                     .ended = state.starts_with('Z') || state.starts_with('X')};
}

std::optional<SeenProcess> read_process(std::uint32_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const auto status = read_file(folder + "/status");
  if (!status.ok()) {
    return std::nullopt;
  }
  const auto cgroups = read_file(folder + "/cgroup");  // not there: no cgroups in this kernel
  auto seen = parse_process(status.value(), cgroups.ok() ? cgroups.value() : "");
  const auto stat = read_file(folder + "/stat");  // after it: whoever exits by now may have before
  if (seen && (!stat.ok() || is_exiting(stat.value()))) {
    seen->ended = true;
  }
  return seen;
}

// The name in parentheses may hold anything; flags are the seventh word behind it.
bool is_exiting(std::string_view stat) {
  constexpr std::uint64_t kExiting = 4;  // PF_EXITING (include/linux/sched.h)
  constexpr std::size_t kFlags = 7;      // an empty one first
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) {
    return false;
  }
  const auto words = split(stat.substr(name_end + 1), ' ');
  const auto flags = words.size() > kFlags ? parse_number(words[kFlags]) : std::nullopt;
  return flags && (*flags & kExiting) != 0;
}

std::unordered_map<std::uint32_t, std::string> parse_passwd(std::string_view passwd) {
  std::unordered_map<std::uint32_t, std::string> names;
  for (const std::string_view line : split(passwd, '\n')) {
    const auto fields = split(line, ':');
    const auto uid = fields.size() > 2 ? parse_number(fields[2]) : std::nullopt;
    if (uid) {
      names.try_emplace(static_cast<std::uint32_t>(*uid), fields[0]);  // the first counts
    }
  }
  return names;
}

IdentityWatch::IdentityWatch(World& world, Read read) : world_(world), read_(std::move(read)) {
  const auto passwd = read_file("/etc/passwd");
  unnamed_ = parse_passwd(passwd.ok() ? passwd.value() : "");
}

void IdentityWatch::read_all(const Target& target) {
  if (target.kind == TargetKind::System) {
    const auto names = list_directory("/proc");
    for (const std::string& name : names.ok() ? names.value() : std::vector<std::string>()) {
      if (const auto pid = parse_number(name)) {
        read(static_cast<std::uint32_t>(*pid), 0);
      }
    }
    return;
  }
  for (const std::uint32_t id : target.ids) {
    if (const auto pid = process_of(id); pid.ok()) {
      read(pid.value(), 0);
    }
  }
}

void IdentityWatch::before(const Record& record) {
  if (const auto* sample = std::get_if<Sample>(&record.payload)) {
    on_sample(record.stamp.time_ns, sample->pid);
  } else if (const auto* fork = std::get_if<Fork>(&record.payload)) {
    if (fork->pid != fork->parent_pid) {
      tasks_[fork->pid] = {};
    }
  } else if (const auto* comm = std::get_if<Comm>(&record.payload); comm != nullptr && comm->exec) {
    // At once, though it may never have an event: its children have what it is.
    read(comm->pid, record.stamp.time_ns);
  }
}

void IdentityWatch::on_sample(std::uint64_t time_ns, std::uint32_t pid) {
  if (pid == 0 || pid == kKernelPid) {
    return;
  }
  if (last_ == nullptr || last_pid_ != pid) {
    last_ = &tasks_[pid];
    last_pid_ = pid;
  }
  Task& task = *last_;
  if (!task.is_due && time_ns < task.next_ns) {
    return;
  }
  // What was read before the first event is of a time that is not on the records' clock.
  if (task.is_due || task.next_ns != 0) {
    read(pid, time_ns);
  }
  task = {.is_due = false, .next_ns = time_ns + kReadAgainNs};
}

void IdentityWatch::read(std::uint32_t pid, std::uint64_t time_ns) {
  auto seen = read_(pid);
  tasks_[pid].is_due = false;
  if (!seen) {
    return;  // it has ended: what its parent was must do
  }
  const IdentityId known = world_.identity_of(pid);
  // A task that exits is shown in the root cgroup (kernel/cgroup/cgroup.c, proc_cgroup_show()).
  if (seen->ended && known.valid()) {
    seen->cgroup = world_.identities().cgroup(known);
  }
  const IdentityId identity = world_.identities().intern(seen->uid, seen->cgroup);
  if (identity != known) {
    name_user(seen->uid);
    world_.identify(pid, identity);
    log_.add({time_ns, pid, seen->uid, seen->cgroup});
  }
}

void IdentityWatch::name_user(std::uint32_t uid) {
  if (const auto named = unnamed_.extract(uid)) {
    world_.identities().name_user(uid, named.mapped());
    log_.name_user(uid, named.mapped());
  }
}

}  // namespace memtrace
