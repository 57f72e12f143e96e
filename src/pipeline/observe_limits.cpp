// What limited a process's memory when a system call was refused some: its own limits, the
// machine's commitment, its memory cgroup.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "pipeline/observation_readers.h"
#include "state/memory_failure.h"

namespace memtrace {
namespace {

struct Limit {
  std::string_view line;  // of /proc/PID/limits
  const char* name;
};

constexpr auto kLimits = std::to_array<Limit>({
    {"Max address space", "rlimit_as"},
    {"Max data size", "rlimit_data"},
    {"Max locked memory", "rlimit_memlock"},
    {"Max processes", "rlimit_nproc"},
});

struct Setting {
  const char* file;
  const char* name;
};

constexpr auto kSettings = std::to_array<Setting>({
    {"sys/vm/overcommit_memory", "overcommit_memory"},
    {"sys/vm/max_map_count", "max_map_count"},
    {"sys/kernel/threads-max", "threads_max"},
    {"sys/kernel/shmmax", "shmmax"},
    {"sys/kernel/shmall", "shmall_pages"},
    {"sys/kernel/shmmni", "shmmni"},
});

// A figure, or "unlimited" as a text.
void add_limit(std::string_view value, const char* name, Facts& facts) {
  if (const auto number = parse_number(value)) {
    facts.numbers[name] = *number;
  } else if (value == "unlimited") {
    facts.texts[name] = value;
  }
}

// "Max address space         67108864             unlimited            bytes": the soft limit.
void add_limits(const std::string& text, Facts& facts) {
  for (const std::string_view line : split(text, '\n')) {
    const auto* const limit = std::ranges::find_if(
        kLimits, [line](const Limit& one) { return line.starts_with(one.line); });
    if (limit != kLimits.end()) {
      const std::string_view values = trim(line.substr(limit->line.size()));
      add_limit(values.substr(0, values.find(' ')), limit->name, facts);
    }
  }
}

struct Cgroup {
  std::string path;  // "" when it is not known
  bool is_version_2 = false;
};

// Where a controller has the process: in its own hierarchy, or in the one that there is in version
// 2.
Cgroup cgroup_of(std::string_view text, std::string_view controller) {
  std::string_view unified;
  for (const std::string_view line : split(text, '\n')) {
    const auto parts = split(line, ':');
    if (parts.size() < 3) {
      continue;
    }
    const std::string_view path = line.substr(parts[0].size() + parts[1].size() + 2);
    const auto controllers = split(parts[1], ',');
    if (std::find(controllers.begin(), controllers.end(), controller) != controllers.end()) {
      return {.path = std::string(path)};
    }
    if (parts[1].empty()) {
      unified = path;
    }
  }
  return {.path = std::string(unified), .is_version_2 = true};
}

// A limit and how much of it is used: files of a cgroup, and the facts that they become.
struct CgroupLimit {
  std::string folder;
  const char* limit_file;
  const char* usage_file;
  const char* limit;
  const char* usage;
};

// The lowest limit of the cgroup and those that it is in.
void add_lowest(std::string path, const CgroupLimit& files, Facts& facts) {
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62U;  // version 1 tells LONG_MAX, in pages
  const ProcFolder cgroups{files.folder};
  while (path.size() > 1) {
    const auto limit = parse_number(trim(cgroups.read(path + "/" + files.limit_file)));
    const auto usage = parse_number(trim(cgroups.read(path + "/" + files.usage_file)));
    const auto* lowest = facts.number(files.limit);
    if (limit && usage && *limit < kNoLimit && (lowest == nullptr || *limit < *lowest)) {
      facts.numbers[files.limit] = *limit;
      facts.numbers[files.usage] = *usage;
    }
    path.resize(path.find_last_of('/'));
  }
  if (facts.number(files.limit) == nullptr) {
    facts.texts[files.limit] = "unlimited";
  }
}

void add_cgroups(const std::string& text, Facts& facts) {
  const std::string root = "/sys/fs/cgroup";
  if (const Cgroup memory = cgroup_of(text, "memory"); !memory.path.empty()) {
    facts.texts["cgroup"] = memory.path;
    const bool unified = memory.is_version_2;
    add_lowest(memory.path,
               {.folder = unified ? root : root + "/memory",
                .limit_file = unified ? "memory.max" : "memory.limit_in_bytes",
                .usage_file = unified ? "memory.current" : "memory.usage_in_bytes",
                .limit = "cgroup_limit",
                .usage = "cgroup_usage"},
               facts);
  }
  if (const Cgroup pids = cgroup_of(text, "pids"); !pids.path.empty()) {
    add_lowest(pids.path,
               {.folder = pids.is_version_2 ? root : root + "/pids",
                .limit_file = "pids.max",
                .usage_file = "pids.current",
                .limit = "pids_limit",
                .usage = "pids"},
               facts);
  }
}

// The heading is no segment.
void add_segment_count(const std::string& text, Facts& facts) {
  const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  if (lines > 0) {
    facts.numbers["segments"] = lines - 1;
  }
}

void read(const Event& event, const ProcFolder& proc, Observation& observation) {
  Facts& facts = observation.facts;
  const std::string pid = std::to_string(event.pid) + "/";
  add_limits(proc.read(pid + "limits"), facts);
  const std::string status = proc.read(pid + "status");
  add_kilobytes(status, "VmSize", "vm_size", facts);
  add_kilobytes(status, "VmData", "vm_data", facts);
  add_kilobytes(status, "VmLck", "vm_locked", facts);
  const std::string maps = proc.read(pid + "maps");
  if (!maps.empty()) {
    facts.numbers["mappings"] =
        static_cast<std::uint64_t>(std::count(maps.begin(), maps.end(), '\n'));
  }
  const std::string memory = proc.read("meminfo");
  add_kilobytes(memory, "Committed_AS", "committed", facts);
  add_kilobytes(memory, "CommitLimit", "commit_limit", facts);
  add_kilobytes(memory, "MemAvailable", "available", facts);
  add_kilobytes(memory, "MemTotal", "total", facts);
  add_kilobytes(memory, "SwapTotal", "swap_total", facts);
  for (const Setting& setting : kSettings) {
    add_limit(trim(proc.read(setting.file)), setting.name, facts);
  }
  add_cgroups(proc.read(pid + "cgroup"), facts);
  add_segment_count(proc.read("sysvipc/shm"), facts);
}

bool wants(const Event& event) {
  const auto* done = std::get_if<SystemCallDone>(&event.payload);
  return done != nullptr && was_refused_memory(*done);
}

}  // namespace

constinit const ObservationReader observe_limits{.name = "limits", .wants = wants, .read = read};

}  // namespace memtrace
