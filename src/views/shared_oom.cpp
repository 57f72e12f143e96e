#include "views/shared_oom.h"

#include <algorithm>
#include <array>

#include "base/text.h"

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

OomKill kill_of(const Event& event, const World& world) {
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
  if (identity.valid()) {
    return std::string(world.identities().cgroup(identity));
  }
  const std::string* seen = kill.seen ? kill.seen->facts.text("victim_cgroup") : nullptr;
  return seen == nullptr || *seen == "/" ? std::string() : *seen;
}

Cell if_known(bool known, std::uint64_t bytes) {
  return known ? Cell(bytes) : Cell();
}

Cell number_cell(const Facts& facts, std::string_view name) {
  const std::uint64_t* number = facts.number(name);
  return number == nullptr ? Cell() : Cell(*number);
}

Cell text_cell(const Facts& facts, std::string_view name) {
  const std::string* text = facts.text(name);
  return text == nullptr || text->empty() ? Cell() : Cell(*text);
}

Cell text_or_blank(const std::string& text) {
  return text.empty() ? Cell() : Cell(text);
}

}  // namespace

OomKill killed_by_mark(const Event& event, const World& world) {
  OomKill kill = kill_of(event, world);
  const auto& victim = std::get<OomVictim>(event.payload);
  kill.victim_pid = victim.pid;
  kill.cgroup = cgroup_of(kill, world);
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
  OomKill kill = kill_of(event, world);
  kill.victim_pid = std::get<SignalSent>(event.payload).pid;
  kill.cgroup = cgroup_of(kill, world);
  take_observed(kill);
  return kill;
}

bool is_fatal_signal(const Event& event) {
  const auto* signal = std::get_if<SignalSent>(&event.payload);
  return signal != nullptr && signal->signal == kSigkill;
}

void judge(OomKill& kill, Namer& namer) {
  const Frames frames = kill.stack.valid() ? namer.stack(kill.stack) : Frames();
  const bool has_kernel_frames =
      std::ranges::any_of(frames, [](const Frame& frame) { return frame.kernel; });
  kill.by_killer = !has_kernel_frames || has_function(frames, kKillers);
  kill.domain = domain_of(frames);
}

Table kill_table(std::span<const OomKill> kills, std::uint64_t start_ns) {
  Table table;
  table.title = "kills, in order of time";
  table.fixed = true;
  table.columns = {{"time_ns", Unit::Nanoseconds},
                   {"victim", Unit::Text},
                   {"victim_pid", Unit::Number},
                   {"for", Unit::Text},
                   {"how", Unit::Text},
                   {"trigger", Unit::Text},
                   {"trigger_pid", Unit::Number},
                   {"stack", Unit::Stack}};
  table.key_count = table.columns.size();
  for (const OomKill& kill : kills) {
    table.rows.push_back({kill.time_ns - std::min(kill.time_ns, start_ns),
                          text_or_blank(kill.victim),
                          std::uint64_t{kill.victim_pid},
                          text_or_blank(kill.domain),
                          std::string(kill.by_killer ? "killed" : "was exiting"),
                          text_or_blank(kill.trigger),
                          std::uint64_t{kill.trigger_pid},
                          kill.stack});
  }
  return table;
}

Table victim_table(std::span<const OomKill> kills) {
  Table table;
  table.title = "memory of the victims";
  table.fixed = true;
  table.key_count = 2;
  table.columns = {{"victim_pid", Unit::Number},
                   {"cgroup", Unit::Text},
                   {"total_vm", Unit::Bytes},
                   {"anon", Unit::Bytes},
                   {"file", Unit::Bytes},
                   {"shmem", Unit::Bytes},
                   {"page_tables", Unit::Bytes},
                   {"uid", Unit::Number},
                   {"oom_score_adj", Unit::Number}};
  for (const OomKill& kill : kills) {
    const bool known = kill.memory_known;
    table.rows.push_back(
        {std::uint64_t{kill.victim_pid},
         text_or_blank(kill.cgroup),
         if_known(known, kill.memory.total_vm_bytes),
         if_known(known, kill.memory.anon_bytes),
         if_known(known, kill.memory.file_bytes),
         if_known(known, kill.memory.shmem_bytes),
         if_known(known, kill.memory.page_table_bytes),
         if_known(kill.owner_known, kill.memory.uid),
         kill.owner_known ? Cell(std::int64_t{kill.memory.oom_score_adj}) : Cell()});
  }
  return table;
}

Table machine_table(std::span<const OomKill> kills) {
  Table table;
  table.title = "the machine at that moment";
  table.fixed = true;
  table.key_count = 2;
  table.columns = {{"victim_pid", Unit::Number},
                   {"load_averages", Unit::Text},
                   {"total", Unit::Bytes},
                   {"free", Unit::Bytes},
                   {"available", Unit::Bytes},
                   {"swap_total", Unit::Bytes},
                   {"swap_free", Unit::Bytes},
                   {"read_after_ns", Unit::Nanoseconds}};
  for (const OomKill& kill : kills) {
    if (!kill.seen) {
      continue;
    }
    const Facts& facts = kill.seen->facts;
    table.rows.push_back({std::uint64_t{kill.victim_pid},
                          text_cell(facts, "load_averages"),
                          number_cell(facts, "total"),
                          number_cell(facts, "free"),
                          number_cell(facts, "available"),
                          number_cell(facts, "swap_total"),
                          number_cell(facts, "swap_free"),
                          kill.seen->delay_ns});
  }
  return table;
}

Table cgroup_table(std::span<const OomKill> kills) {
  Table table{.title = "the memory cgroup with the lowest limit at that moment",
              .columns = {{"victim_pid", Unit::Number},
                          {"cgroup_usage", Unit::Bytes},
                          {"cgroup_limit", Unit::Bytes}},
              .key_count = 1};
  table.fixed = true;
  for (const OomKill& kill : kills) {
    if (kill.seen && kill.seen->facts.number("cgroup_limit") != nullptr) {
      table.rows.push_back({std::uint64_t{kill.victim_pid},
                            number_cell(kill.seen->facts, "cgroup_usage"),
                            number_cell(kill.seen->facts, "cgroup_limit")});
    }
  }
  return table;
}

Table process_table(std::span<const OomKill> kills) {
  Table table;
  table.title = "the largest processes at that moment";
  table.fixed = true;
  table.key_count = 3;
  table.columns = {{"victim_pid", Unit::Number},
                   {"comm", Unit::Text},
                   {"pid", Unit::Number},
                   {"resident", Unit::Bytes},
                   {"swapped", Unit::Bytes},
                   {"oom_score", Unit::Number}};
  for (const OomKill& kill : kills) {
    for (const Facts& process : kill.seen ? kill.seen->rows : std::vector<Facts>()) {
      table.rows.push_back({std::uint64_t{kill.victim_pid},
                            text_cell(process, "comm"),
                            number_cell(process, "pid"),
                            number_cell(process, "resident"),
                            number_cell(process, "swapped"),
                            number_cell(process, "oom_score")});
    }
  }
  return table;
}

std::vector<std::string> oom_notes(std::span<const OomKill> kills, bool by_signals) {
  std::vector<std::string> notes;
  if (by_signals) {
    notes.emplace_back(
        "there is no oom:mark_victim: these are the fatal signals sent by oom_kill_process, and "
        "the "
        "victim's memory is what /proc said a moment later");
  }
  const auto is_unseen = [](const OomKill& kill) { return !kill.seen; };
  if (const auto unseen = std::ranges::count_if(kills, is_unseen); unseen > 0) {
    notes.push_back(
        format("of %lld kills it is not known what /proc said: memtrace was not there "
               "to read it, or came too late",
               static_cast<long long>(unseen)));
  }
  const auto is_unclear = [](const OomKill& kill) { return kill.domain.empty(); };
  if (std::ranges::any_of(kills, is_unclear)) {
    notes.emplace_back(
        "whether a cgroup or the machine had no memory left is told by functions of the kernel "
        "stack alone, which was not recorded or has no names");
  }
  return notes;
}

}  // namespace memtrace
