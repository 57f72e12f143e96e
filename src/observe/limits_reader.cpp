// What limited a process's memory when a system call was refused some: its own limits, the
// machine's commitment, its memory cgroup.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "observe/observed_cgroup.h"
#include "observe/proc_readers.h"
#include "os/procfs.h"
#include "state/mapping/refused_memory.h"

namespace memtrace::limits_reader {
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

// Pages of the usual huge size, in numbers.
void add_huge_pages(std::string_view memory, const ProcFolder& proc, Facts& facts) {
  add_kilobytes(memory, "Hugepagesize", "huge_page", facts);
  for (const auto& [line, name] :
       {std::pair<std::string_view, const char*>{"HugePages_Free", "huge_free"},
        {"HugePages_Rsvd", "huge_reserved"},
        {"HugePages_Surp", "huge_surplus"}}) {
    if (const auto count = proc_number(memory, line)) {
      facts.numbers[name] = *count;
    }
  }
  add_limit(trim(proc.read("sys/vm/nr_overcommit_hugepages")), "huge_overcommit", facts);
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
  add_huge_pages(memory, proc, facts);
  for (const Setting& setting : kSettings) {
    add_limit(trim(proc.read(setting.file)), setting.name, facts);
  }
  const std::string cgroups = proc.read(pid + "cgroup");
  add_memory_cgroup(cgroups, facts);
  add_pids_cgroup(cgroups, facts);
  add_segment_count(proc.read("sysvipc/shm"), facts);
}

bool wants(const Event& event) {
  const auto* done = std::get_if<SystemCallDone>(&event.payload);
  return done != nullptr && was_refused_memory(*done);
}

}  // namespace
}  // namespace memtrace::limits_reader

namespace memtrace {

constinit const ObservationReader observe_limits{
    .name = "limits", .wants = limits_reader::wants, .read = limits_reader::read};

}  // namespace memtrace
