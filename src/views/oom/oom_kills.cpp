#include "views/oom/oom_kills.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/units.h"

namespace memtrace {
namespace {

constexpr std::int32_t kSigkill = 9;

bool has_function(const Frames& frames, std::span<const std::string_view> names) {
  return std::ranges::any_of(frames, [&](const Frame& frame) {
    // "oom_kill_process.cold" is a part of it.
    const std::string_view name = frame.function;
    return frame.kernel && std::ranges::find(names, name.substr(0, name.find('.'))) != names.end();
  });
}

// mm/oom_kill.c; oom_kill_task is of 2.6.32.
constexpr auto kKillers = std::to_array<std::string_view>(
    {"oom_kill_process", "__oom_kill_process", "oom_kill_task", "oom_kill_memcg_member"});

// mm/memcontrol.c and memcontrol-v1.c; the second one is where a fault waits for its cgroup (3.12).
constexpr auto kCgroupFunctions = std::to_array<std::string_view>(
    {"mem_cgroup_out_of_memory", "mem_cgroup_oom_synchronize", "mem_cgroup_handle_oom"});
constexpr auto kSysrqFunctions = std::to_array<std::string_view>({"moom_callback"});
constexpr auto kMachineFunctions = std::to_array<std::string_view>({"out_of_memory"});

std::string domain_of(const Frames& frames) {
  if (has_function(frames, kCgroupFunctions)) {
    return "cgroup";
  }
  if (has_function(frames, kSysrqFunctions)) {
    return "sysrq";
  }
  return has_function(frames, kMachineFunctions) ? "machine" : "";
}

Frames frames_of(StackId stack, Namer& namer) {
  return stack.valid() ? namer.stack(stack) : Frames();
}

// What has no name is "[kernel]+0x1234".
bool has_kernel_names(const Frames& frames) {
  return std::ranges::any_of(frames, [](const Frame& frame) {
    return frame.kernel && frame.function.find("+0x") == std::string::npos;
  });
}

std::uint64_t number_or_0(const Facts& facts, std::string_view name) {
  const std::uint64_t* number = facts.number(name);
  return number == nullptr ? 0 : *number;
}

// Where the event has the victim's pid alone, /proc may have had the rest.
void take_observed(OomKill& kill) {
  if (!kill.seen) {
    return;
  }
  const Facts& facts = kill.seen->facts;
  kill.memory_known = facts.number("victim_anon") != nullptr;
  kill.owner_known = facts.number("victim_uid") != nullptr;
  kill.memory = {.pid = kill.victim_pid,
                 .has_memory = false,
                 .comm = {},
                 .total_vm_bytes = number_or_0(facts, "victim_vm"),
                 .anon_bytes = number_or_0(facts, "victim_anon"),
                 .file_bytes = number_or_0(facts, "victim_file"),
                 .shmem_bytes = number_or_0(facts, "victim_shmem"),
                 .page_table_bytes = number_or_0(facts, "victim_page_tables"),
                 .uid = static_cast<std::uint32_t>(number_or_0(facts, "victim_uid"))};
  if (const std::string* adjustment = facts.text("victim_oom_score_adj")) {
    kill.memory.oom_score_adj =
        static_cast<std::int32_t>(std::strtol(adjustment->c_str(), nullptr, 10));
  }
}

// What was known of the process before; else what /proc said, unless it had left its cgroup for the
// root already, as the dead do.
std::string cgroup_of(const OomKill& kill, const World& world) {
  const IdentityId identity = world.identity_of(kill.victim_pid);
  if (world.identities().knows_cgroup(identity)) {
    return std::string(world.identities().cgroup(identity));
  }
  const std::string* seen = kill.seen ? kill.seen->facts.text("victim_cgroup") : nullptr;
  return seen == nullptr || *seen == "/" ? std::string() : *seen;
}

OomOwner owner_of(std::uint32_t pid, const World& world) {
  OomOwner owner;
  const IdentityId identity = world.identity_of(pid);
  if (world.identities().knows_user(identity)) {
    owner.user = std::string(world.identities().user(identity));
  }
  if (const Process* process = world.processes().find(pid); process != nullptr) {
    const Life& life = world.processes().lives().at(process->life);
    owner.exe = world.strings().at(life.exe);
    owner.command = world.strings().at(life.command);
    owner.parent_pid = life.parent_pid;
  }
  return owner;
}

}  // namespace

OomKill kill_at(const Event& event, const World& world) {
  OomKill kill;
  kill.time_ns = event.time_ns;
  kill.trigger = world.strings().at(event.comm);
  kill.trigger_pid = event.pid;
  kill.stack = event.stack;
  kill.victim = world.strings().at(event.label);
  if (const auto* seen = world.observations().find("oom", event.time_ns, event.tid)) {
    kill.seen = *seen;
  }
  return kill;
}

OomKill killed_by_mark(const Event& event, const World& world) {
  OomKill kill = kill_at(event, world);
  const auto& victim = std::get<OomVictim>(event.payload);
  kill.victim_pid = victim.pid;
  kill.cgroup = cgroup_of(kill, world);
  kill.owner = owner_of(kill.victim_pid, world);
  if (victim.has_memory) {
    kill.memory = victim;
    kill.memory.comm = {};  // borrowed from the sample
    kill.memory_known = kill.owner_known = true;
  } else {
    take_observed(kill);
  }
  return kill;
}

OomKill killed_by_signal(const Event& event, const World& world) {
  OomKill kill = kill_at(event, world);
  kill.victim_pid = std::get<SignalSent>(event.payload).pid;
  kill.cgroup = cgroup_of(kill, world);
  kill.owner = owner_of(kill.victim_pid, world);
  take_observed(kill);
  return kill;
}

bool is_fatal_signal(const Event& event) {
  const auto* signal = std::get_if<SignalSent>(&event.payload);
  return signal != nullptr && signal->signal == kSigkill;
}

void judge(OomKill& kill, Namer& namer, bool by_signal) {
  Frames frames = frames_of(kill.stack, namer);
  if (Frames at_call = frames_of(kill.call_stack, namer);
      !has_kernel_names(frames) && (has_kernel_names(at_call) || frames.empty())) {
    kill.stack = kill.call_stack;
    kill.uses_call_stack = kill.has_victim() && kill.stack.valid();
    frames = std::move(at_call);
  }
  const bool has_names = has_kernel_names(frames);
  kill.by_killer = has_names ? has_function(frames, kKillers) : kill.is_called || !by_signal;
  kill.is_undecided = by_signal && !has_names && !kill.is_called;
  kill.domain = domain_of(frames);
}

std::string undecided_note(std::uint64_t signals) {
  return counted(signals, "SIGKILL", "SIGKILLs") +
         " may come from the OOM killer or from any other sender: the kernel's stack, which would "
         "show it, was not recorded or has no names; record with --for oom, as root";
}

std::vector<std::string> oom_notes(std::span<const OomKill> kills, bool by_signals) {
  std::vector<std::string> notes;
  if (by_signals) {
    notes.emplace_back(
        "oom:mark_victim was not recorded: these are the fatal signals sent by oom_kill_process, "
        "and the victim's memory is what /proc showed a moment later");
  }
  const auto is_unseen = [](const OomKill& kill) { return !kill.seen; };
  if (const auto unseen = std::ranges::count_if(kills, is_unseen); unseen > 0) {
    notes.push_back(fmt::format(
        "/proc was not read for {} kills: memtrace was not running, or was too late", unseen));
  }
  const auto is_unclear = [](const OomKill& kill) { return kill.domain.empty(); };
  if (std::ranges::any_of(kills, is_unclear)) {
    notes.emplace_back(
        "whether a cgroup or the machine ran out of memory is not known: the kernel stack, which "
        "would show it, was not recorded or has no names");
  }
  return notes;
}

}  // namespace memtrace
