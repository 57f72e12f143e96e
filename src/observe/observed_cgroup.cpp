#include "observe/observed_cgroup.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "observe/proc_observer.h"
#include "os/procfs.h"

namespace memtrace {
namespace {

constexpr const char* kRoot = "/sys/fs/cgroup";

struct Cgroup {
  std::string path;  // "" when it is not known
  bool is_version_2 = false;
};

// Where a controller has the process: in its own hierarchy, or in the one that there is in version
// 2.
Cgroup cgroup_of(std::string_view text, std::string_view controller) {
  std::string_view unified;
  for (const std::string_view row : split(text, '\n')) {
    const auto line = parse_cgroup_line(row);
    if (line && line->has(controller)) {
      return {.path = std::string(line->path)};
    }
    if (line && line->has("")) {
      unified = line->path;
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
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62U;  // version 1 gives LONG_MAX, in pages
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

// Where the process is, or was known to be.
Cgroup memory_cgroup_of(std::string_view text, const Facts& facts) {
  Cgroup memory = cgroup_of(text, "memory");
  const std::string* known = facts.text("cgroup");
  if (known != nullptr && memory.path.size() <= 1) {
    memory.path = *known;
    // A task that is gone has no text at all.
    memory.is_version_2 = !std::filesystem::exists(kRoot + std::string("/memory"));
  }
  return memory;
}

// The part of its limit that a cgroup uses. In version 2 reclaim begins at memory.high, too.
double use_of(const ProcFolder& cgroups, const std::string& path, bool is_version_2) {
  const auto figure = [&](const char* file) {
    return parse_number(trim(cgroups.read(path + file)));
  };
  const auto usage = figure(is_version_2 ? "/memory.current" : "/memory.usage_in_bytes");
  auto limit = figure(is_version_2 ? "/memory.max" : "/memory.limit_in_bytes");
  const auto high = is_version_2 ? figure("/memory.high") : std::nullopt;
  limit = high ? std::min(*high, limit.value_or(*high)) : limit;
  return usage && limit && *limit > 0 ? static_cast<double>(*usage) / static_cast<double>(*limit)
                                      : 0;
}

}  // namespace

void add_full_cgroup(std::string_view text, Facts& facts) {
  const Cgroup memory = memory_cgroup_of(text, facts);
  const ProcFolder cgroups{memory.is_version_2 ? kRoot : kRoot + std::string("/memory")};
  double most = 0;
  for (std::string path = memory.path; path.size() > 1; path.resize(path.find_last_of('/'))) {
    const double use = use_of(cgroups, path, memory.is_version_2);
    if (use > most) {
      most = use;
      facts.texts["full_cgroup"] = path;
    }
  }
}

void add_memory_cgroup(std::string_view text, Facts& facts) {
  const Cgroup memory = memory_cgroup_of(text, facts);
  if (memory.path.empty()) {
    return;
  }
  facts.texts["cgroup"] = memory.path;
  const bool unified = memory.is_version_2;
  add_lowest(memory.path,
             {.folder = unified ? kRoot : kRoot + std::string("/memory"),
              .limit_file = unified ? "memory.max" : "memory.limit_in_bytes",
              .usage_file = unified ? "memory.current" : "memory.usage_in_bytes",
              .limit = "cgroup_limit",
              .usage = "cgroup_usage"},
             facts);
  // Version 1 up to 6.0 (a limit can be set up to 5.15): what the kernel takes for its tasks.
  const std::string kernel_limit = "/memory.kmem.limit_in_bytes";
  if (!unified &&
      std::filesystem::exists(kRoot + std::string("/memory") + memory.path + kernel_limit)) {
    add_lowest(memory.path,
               {.folder = kRoot + std::string("/memory"),
                .limit_file = "memory.kmem.limit_in_bytes",
                .usage_file = "memory.kmem.usage_in_bytes",
                .limit = "cgroup_kernel_limit",
                .usage = "cgroup_kernel_usage"},
               facts);
  }
}

void add_pids_cgroup(std::string_view text, Facts& facts) {
  const Cgroup pids = cgroup_of(text, "pids");
  if (pids.path.empty()) {
    return;
  }
  add_lowest(pids.path,
             {.folder = pids.is_version_2 ? kRoot : kRoot + std::string("/pids"),
              .limit_file = "pids.max",
              .usage_file = "pids.current",
              .limit = "pids_limit",
              .usage = "pids"},
             facts);
}

}  // namespace memtrace
