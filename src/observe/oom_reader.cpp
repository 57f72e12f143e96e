// What the machine was like when the kernel killed for lack of memory: the victim, the largest
// processes, load averages.
#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "observe/observed_cgroup.h"
#include "observe/proc_readers.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace::oom_reader {
namespace {

constexpr std::size_t kMaxProcesses = 10;
constexpr std::int32_t kSigkill = 9;

std::uint32_t victim_of(const Event& event) {
  if (const auto* victim = std::get_if<OomVictim>(&event.payload)) {
    return victim->pid;
  }
  return std::get<SignalSent>(event.payload).pid;
}

void add_victim(std::uint32_t pid, const ProcFolder& proc, Facts& facts) {
  const std::string folder = std::to_string(pid) + "/";
  const std::string status = proc.read(folder + "status");
  add_kilobytes(status, "VmSize", "victim_vm", facts);
  add_kilobytes(status, "RssAnon", "victim_anon", facts);
  add_kilobytes(status, "RssFile", "victim_file", facts);
  add_kilobytes(status, "RssShmem", "victim_shmem", facts);
  add_kilobytes(status, "VmPTE", "victim_page_tables", facts);
  add_uid(status, "victim_uid", facts);
  facts.texts["victim_oom_score_adj"] = trim(proc.read(folder + "oom_score_adj"));
  Facts cgroup;
  add_memory_cgroup(proc.read(folder + "cgroup"), cgroup);
  facts.texts["victim_cgroup"] = cgroup.texts["cgroup"];
}

void add_machine(const ProcFolder& proc, Facts& facts) {
  facts.texts["clock"] = clock_time();
  const std::string memory = proc.read("meminfo");
  add_kilobytes(memory, "MemFree", "free", facts);
  add_kilobytes(memory, "MemAvailable", "available", facts);
  add_kilobytes(memory, "SwapFree", "swap_free", facts);
  add_kilobytes(memory, "MemTotal", "total", facts);
  add_kilobytes(memory, "SwapTotal", "swap_total", facts);
  if (std::string loads = parse_load_averages(proc.read("loadavg")); !loads.empty()) {
    facts.texts["load_averages"] = std::move(loads);
  }
}

// What the files of the cgroup say by now is how much it uses without the victim. The kernel's own
// report has what it was when there was no more to be had.
void take_usage_before(std::uint32_t victim_pid, std::string_view log, Facts& facts) {
  facts.numbers.erase("cgroup_usage");
  const auto kill = find_cgroup_kill(log, victim_pid);
  if (!kill) {
    return;
  }
  facts.texts.erase("cgroup_limit");
  facts.numbers["cgroup_usage"] = kill->usage_bytes;
  facts.numbers["cgroup_limit"] = kill->limit_bytes;
  if (!kill->cgroup.empty()) {
    facts.texts["cgroup"] = kill->cgroup;
  }
}

// The victim gives its memory back while its files are read, and before 4.5 they do not say what is
// anonymous. The kernel wrote down what it had.
void take_victim_before(std::uint32_t victim_pid, std::string_view log, Facts& facts) {
  const auto victim = find_victim(log, victim_pid);
  if (!victim) {
    return;
  }
  facts.numbers["victim_vm"] = victim->size;
  facts.numbers["victim_anon"] = victim->anon;
  facts.numbers["victim_file"] = victim->file;
  facts.numbers["victim_shmem"] = victim->shmem;
}

struct Size {
  std::uint64_t pid = 0;
  std::uint64_t resident_pages = 0;
};

// statm is the cheapest file that has it: one line, no look at page tables.
std::vector<Size> largest_processes(const ProcFolder& proc) {
  std::vector<Size> sizes;
  const auto pids = process_ids(proc.path);
  for (const std::uint32_t pid : pids.ok() ? pids.value() : std::vector<std::uint32_t>()) {
    const std::string text = proc.read(std::to_string(pid) + "/statm");
    const auto words = split(text, ' ');
    const auto pages = words.size() > 1 ? parse_number(words[1]) : std::nullopt;
    if (pages && *pages > 0) {
      sizes.push_back({pid, *pages});
    }
  }
  std::ranges::stable_sort(sizes, std::ranges::greater(), &Size::resident_pages);
  sizes.resize(std::min(sizes.size(), kMaxProcesses));
  return sizes;
}

void read(const Event& event, const ProcFolder& proc, Observation& observation) {
  add_victim(victim_of(event), proc, observation.facts);  // first: it is dying
  add_machine(proc, observation.facts);
  // The task that triggered the kill is in the cgroup that was full, or below it, and so is the
  // victim. A dying task is soon in none.
  const std::string left = observation.facts.texts["victim_cgroup"];
  if (observation.facts.text("cgroup") == nullptr && left.size() > 1) {
    observation.facts.texts["cgroup"] = left;
  }
  add_memory_cgroup(proc.read(std::to_string(event.pid) + "/cgroup"), observation.facts);
  const std::string log = proc.kernel_log();
  take_usage_before(victim_of(event), log, observation.facts);
  take_victim_before(victim_of(event), log, observation.facts);
  for (const Size& size : largest_processes(proc)) {
    const std::string folder = std::to_string(size.pid) + "/";
    Facts& process = observation.rows.emplace_back();
    process.numbers["pid"] = size.pid;
    process.numbers["resident"] = size.resident_pages * page_size_bytes();
    process.texts["comm"] = parse_comm(proc.read(folder + "comm"));
    add_kilobytes(proc.read(folder + "status"), "VmSwap", "swapped", process);
    if (const auto score = parse_number(trim(proc.read(folder + "oom_score")))) {
      process.numbers["oom_score"] = *score;
    }
  }
}

bool wants(const Event& event) {
  const auto* signal = std::get_if<SignalSent>(&event.payload);
  return std::holds_alternative<OomVictim>(event.payload) ||
         (signal != nullptr && signal->signal == kSigkill);
}

}  // namespace
}  // namespace memtrace::oom_reader

namespace memtrace {

const ObservationReader observe_oom{
    .name = "oom", .wants = oom_reader::wants, .read = oom_reader::read, .always = true};

}  // namespace memtrace
