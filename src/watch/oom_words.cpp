#include "watch/oom_words.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "observe/kernel_log.h"

namespace memtrace {
namespace {

constexpr std::int32_t kSigkill = 9;

std::uint32_t victim_of(const Event& event) {
  const auto* victim = std::get_if<OomVictim>(&event.payload);
  return victim != nullptr ? victim->pid : std::get<SignalSent>(event.payload).pid;
}

// As the event has it, else as the records have named the process.
std::string victim_comm(const Event& event, const World& world) {
  const auto* victim = std::get_if<OomVictim>(&event.payload);
  const std::string_view told =
      victim != nullptr ? victim->comm : std::get<SignalSent>(event.payload).comm;
  if (!told.empty()) {
    return std::string(told);
  }
  const std::uint32_t pid = victim_of(event);
  return std::string(world.strings().at(world.processes().comm(pid, pid)));
}

std::uint64_t number_in(const Observation* seen, std::string_view name) {
  const std::uint64_t* number = seen == nullptr ? nullptr : seen->facts.number(name);
  return number == nullptr ? 0 : *number;
}

std::uint64_t victim_bytes(const Event& event, const Observation* seen) {
  const auto* victim = std::get_if<OomVictim>(&event.payload);
  if (victim != nullptr && victim->has_memory) {
    return victim->anon_bytes + victim->file_bytes + victim->shmem_bytes;
  }
  return number_in(seen, "victim_anon") + number_in(seen, "victim_file") +
         number_in(seen, "victim_shmem");
}

// The reader leaves the usage only if the kernel's log says that a cgroup was full.
std::string reason(const Observation* seen) {
  if (const std::uint64_t limit = number_in(seen, "cgroup_limit");
      limit > 0 && number_in(seen, "cgroup_usage") > 0) {
    const std::string* cgroup = seen->facts.text("cgroup");
    return fmt::format(", because cgroup {} used {} of its limit of {}",
                       cgroup == nullptr ? "" : *cgroup,
                       print_bytes(number_in(seen, "cgroup_usage")),
                       print_bytes(limit));
  }
  if (const std::uint64_t total = number_in(seen, "total"); total > 0) {
    return fmt::format(", when {} of the machine's {} were available",
                       print_bytes(number_in(seen, "available")),
                       print_bytes(total));
  }
  return "";
}

}  // namespace

bool is_oom_kill(const Event& event, std::string (*log)()) {
  const auto* signal = std::get_if<SignalSent>(&event.payload);
  if (signal == nullptr || signal->signal != kSigkill) {
    return std::holds_alternative<OomVictim>(event.payload);
  }
  return has_kill(log(), signal->pid);
}

std::optional<std::uint64_t> oom_order(std::string_view log) {
  constexpr std::string_view kOrder = "order=";
  const std::size_t line = log.rfind("invoked oom-killer");
  const std::size_t at = line == std::string_view::npos ? line : log.find(kOrder, line);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = log.substr(at + kOrder.size());
  return parse_number(rest.substr(0, rest.find_first_not_of("-0123456789")));
}

OomVictimWords describe_kill(const Event& event, const World& world, std::string_view log) {
  const Observation* seen = world.observations().find("oom", event.time_ns, event.tid);
  const std::uint32_t pid = victim_of(event);
  const std::string comm = victim_comm(event, world);
  const std::uint64_t bytes = victim_bytes(event, seen);
  OomVictimWords words;
  words.text =
      fmt::format("the OOM killer killed {} (pid {})", comm.empty() ? "a process" : comm, pid);
  if (bytes > 0) {
    words.text += fmt::format(", which held {}", print_bytes(bytes));
    words.size = ResidentSize{pid, comm, bytes};
  }
  words.text += reason(seen);
  const std::string_view asking = world.strings().at(event.comm);
  const auto order = oom_order(log);
  if (!asking.empty()) {
    words.text += fmt::format("; {} (pid {}) had asked for {}",
                              asking,
                              event.pid,
                              order ? fmt::format("pages of order {}", *order) : "memory");
  }
  return words;
}

}  // namespace memtrace
