// One kill for lack of memory: what the event says of it, what /proc said, and what the functions
// on the stack of the thread that wanted memory show.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/namer.h"
#include "report/report.h"
#include "state/world/world.h"
#include "tracepoints/event/event.h"
#include "views/kit/keys.h"

namespace memtrace {

// Whose process the victim was; "" and 0 for what is not known.
struct OomOwner {
  std::string user;
  std::string exe;
  std::string command;
  std::uint32_t parent_pid = 0;
};

struct OomKill {
  std::uint64_t time_ns = 0;
  std::string trigger;
  std::uint32_t trigger_pid = 0;
  StackId stack;  // the trigger's
  std::string victim;
  std::uint32_t victim_pid = 0;
  std::string cgroup;  // the victim's, "" when it is not known
  OomOwner owner;
  OomVictim memory;  // its comm is not used
  bool memory_known = false;
  bool owner_known = false;         // memory.uid and oom_score_adj
  std::optional<Observation> seen;  // what /proc said
  bool by_killer = true;            // false: the victim was exiting anyway
  bool is_undecided = false;        // a signal whose stack does not show who sent it
  std::string domain;  // "cgroup", "machine", "sysrq"; "" when the stack does not show it
  // A kprobe saw its thread in oom_kill_process(), with this stack.
  bool is_called = false;
  std::uint64_t call_time_ns = 0;
  StackId call_stack = {};
  bool uses_call_stack = false;

  bool has_victim() const { return victim_pid != 0; }
};

// A kill without a victim: when and where the event was.
OomKill kill_at(const Event& event, const World& world);

OomKill killed_by_mark(const Event& event, const World& world);
OomKill killed_by_signal(const Event& event, const World& world);

// SIGKILL.
bool is_fatal_signal(const Event& event);

// Fills in what the names on the stack show. `by_signal`: anybody may send one, and without names
// it is no kill unless a kprobe said so.
void judge(OomKill& kill, Namer& namer, bool by_signal);

// "killed" or "was exiting".
std::string_view how_it_ended(const OomKill& kill);

// A row each, for View::take_lines: what the tables below say of a kill, next to each other.
Table kill_lines(std::span<const OomKill> kills, const CellContext& context, bool has_stacks);

Table kill_table(std::span<const OomKill> kills, std::uint64_t start_ns);
Table victim_table(std::span<const OomKill> kills);
Table machine_table(std::span<const OomKill> kills);
Table process_table(std::span<const OomKill> kills);

// No rows where no limit is known.
Table cgroup_table(std::span<const OomKill> kills);
std::vector<std::string> oom_notes(std::span<const OomKill> kills, bool by_signals);

// Signals that may have been the OOM killer's, and that are no kills here.
std::string undecided_note(std::uint64_t signals);

}  // namespace memtrace
