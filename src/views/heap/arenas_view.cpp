// arenas: the arenas of glibc's malloc, their heaps, who waits for them, and how they grow.
#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "state/heap/arena_guess.h"
#include "views/heap/arena_tables.h"
#include "views/kit/identity_keys.h"
#include "views/kit/keys.h"

namespace memtrace::arenas_view {
namespace {

constexpr std::string_view kProbeStart = "libc_memory_";

// Either the probes, or the system calls that imply the same.
constexpr auto kNeeds = std::to_array<std::string_view>({
    "sdt:*:libc:memory_*|syscalls:sys_enter_mmap",
    "sdt:*:libc:memory_*|syscalls:sys_exit_mmap",
    "sdt:*:libc:memory_*|syscalls:sys_enter_munmap",
    "sdt:*:libc:memory_*|syscalls:sys_exit_munmap",
    "sdt:*:libc:memory_*|syscalls:sys_enter_mprotect",
    "sdt:*:libc:memory_*|syscalls:sys_exit_mprotect",
    "sdt:*:libc:memory_*|syscalls:sys_enter_madvise",
    "sdt:*:libc:memory_*|syscalls:sys_exit_madvise",
    "sdt:*:libc:memory_*|syscalls:sys_enter_brk",
    "sdt:*:libc:memory_*|syscalls:sys_exit_brk",
});

// The tables, all unless the user chooses; and what processes are added up by.
constexpr auto kTableKeys = std::to_array<std::string_view>({"arena", "thread", "heap"});
constexpr auto kProcessKeys = std::to_array<std::string_view>({"pid"});
constexpr auto kKeys = std::to_array<std::string_view>({"arena", "thread", "heap", "pid"});
constexpr auto kOptions = std::to_array<ViewOption>({
    {"trace", "", "print a line for each step as it happens, in place of the report"},
});

bool is_arena_type(const EventType& type) {
  return type.probe.starts_with(kProbeStart);
}

// What only this view records: others watch mmap and brk, too.
bool is_call_of_heaps(const EventType& type) {
  return type.name == "syscalls:sys_enter_mprotect" || type.name == "raw_syscalls:sys_enter";
}

class Arenas final : public View {
 public:
  Arenas(std::vector<std::string> by, std::optional<KeySet> keys, bool has_trace)
      : by_(std::move(by)), keys_(std::move(keys)), has_trace_(has_trace) {}

  // A recording may hold both: the probes know, the system calls let guess.
  Result<> check(const std::deque<EventType>& types) override {
    has_probes_ = std::ranges::any_of(types, is_arena_type);
    has_calls_ = std::ranges::any_of(types, is_call_of_heaps);
    return kDone;
  }

  void on(const Event& event, const World& world) override;
  Report finish(const World& world, Span span) override;
  Table take_lines(const World& world, Span span, Namer& namer) override;

 private:
  ProcessArenas& process_of(const Event& event, const World& world);
  void apply(const Event& event, const World& world, const ArenaEvent& arena);
  void note_step(const Event& event, const ArenaEvent& arena);
  std::vector<Total> totals() const;
  std::vector<std::string> notes() const;

  bool wants(std::string_view table) const {
    return (by_.empty() && !keys_) || std::ranges::find(by_, table) != by_.end();
  }

  std::vector<std::string> by_;  // tables
  std::optional<KeySet> keys_;   // of processes
  bool has_trace_ = false;
  bool has_probes_ = false;
  bool has_calls_ = false;
  AllArenas processes_;
  std::unordered_map<std::uint32_t, ArenaGuess> guesses_;  // by pid
  EventList<ArenaStep> steps_;                             // of this interval
  EventList<ArenaStep> thresholds_;                        // changes of thresholds
};

// After execve(2), or when a pid is used again, nothing of the old arenas is left.
ProcessArenas& Arenas::process_of(const Event& event, const World& world) {
  const Process* process = world.processes().find(event.pid);
  const std::uint64_t serial = process == nullptr ? 0 : process->serial;
  ProcessArenas& arenas = processes_[event.pid];
  if (arenas.serial != serial) {
    arenas = {.serial = serial, .tracker = {}};
    guesses_.erase(event.pid);
  }
  if (keys_) {
    arenas.keys = keys_->of(event);
  }
  return arenas;
}

void Arenas::on(const Event& event, const World& world) {
  if (const auto* arena = std::get_if<ArenaEvent>(&event.payload)) {
    apply(event, world, *arena);
    return;
  }
  const auto* done = std::get_if<SystemCallDone>(&event.payload);
  const auto map = done == nullptr || has_probes_ ? std::nullopt : map_of(*done);
  if (!map) {
    return;
  }
  process_of(event, world);
  for (const ArenaEvent& arena : guesses_[event.pid].apply(event.tid, *map)) {
    apply(event, world, arena);
  }
}

void Arenas::apply(const Event& event, const World& world, const ArenaEvent& arena) {
  process_of(event, world).tracker.apply({.tid = event.tid, .comm = event.comm}, arena);
  note_step(event, arena);
}

void Arenas::note_step(const Event& event, const ArenaEvent& arena) {
  const ArenaStep step{.time_ns = event.time_ns,
                       .pid = event.pid,
                       .task = {.tid = event.tid, .comm = event.comm},
                       .event = arena};
  if (arena.op == ArenaOp::Thresholds) {
    thresholds_.add(step);
  }
  if (has_trace_) {
    steps_.add(step);
  }
}

std::vector<Total> Arenas::totals() const {
  std::uint64_t arenas = 0;
  std::uint64_t heap_bytes = 0;
  std::uint64_t waits = 0;
  ArenaTracker::Counts sum;
  for (const auto& [pid, process] : processes_) {
    const ArenaTracker::Counts& counts = process.tracker.counts();
    arenas += process.tracker.arenas().size();
    for (const auto& [address, heap] : process.tracker.heaps()) {
      heap_bytes += heap.bytes;
    }
    for (const auto& [tid, user] : process.tracker.users()) {
      waits += user.waits;
    }
    sum.heaps_new += counts.heaps_new;
    sum.heaps_freed += counts.heaps_freed;
    sum.sbrk_more_bytes += counts.sbrk_more_bytes;
    sum.sbrk_less_bytes += counts.sbrk_less_bytes;
  }
  const bool grew = sum.sbrk_more_bytes > sum.sbrk_less_bytes;
  return {{"arenas", Unit::Count, arenas},
          {"waits", Unit::Count, waits},
          {"heaps_new", Unit::Count, sum.heaps_new},
          {"heaps_freed", Unit::Count, sum.heaps_freed},
          {"heap_bytes", Unit::Bytes, heap_bytes},
          {"sbrk", Unit::Bytes, grew ? sum.sbrk_more_bytes - sum.sbrk_less_bytes : 0},
          {"sbrk_more", Unit::Bytes, sum.sbrk_more_bytes},
          {"sbrk_less", Unit::Bytes, sum.sbrk_less_bytes}};
}

std::vector<std::string> Arenas::notes() const {
  std::vector<std::string> notes;
  if (!has_probes_) {
    notes.emplace_back(
        "the target's libc has no static probes: arenas and heaps are guessed from mappings of "
        "64 MiB, sbrk from brk; waits and thresholds are not known, and a thread's first heap "
        "counts as a new arena unless the thread used another arena before");
  }
  return notes;
}

Report Arenas::finish(const World& world, Span span) {
  Report report{.view = "arenas", .title = "arenas of malloc"};
  report.totals = totals();
  report.inconclusive = !has_probes_ && !has_calls_;
  if (keys_) {
    report.tables.push_back(
        arena_process_table(processes_, *keys_, {.world = world, .span = span}));
  }
  using MakeTable = Table (*)(const AllArenas& all, const World& world);
  constexpr std::array<MakeTable, kTableKeys.size()> kTables = {
      arena_table, arena_user_table, arena_heap_table};
  for (std::size_t i = 0; i < kTableKeys.size(); ++i) {
    if (wants(kTableKeys[i])) {
      report.tables.push_back(kTables[i](processes_, world));
    }
  }
  if (!thresholds_.empty()) {
    report.tables.push_back(threshold_table(thresholds_, {.world = world, .span = span}));
  }
  report.caveats.notes = notes();
  thresholds_.clear();
  return report;
}

Table Arenas::take_lines(const World& world, Span span, Namer& /*namer*/) {
  return arena_lines(steps_, {.world = world, .span = span});
}

bool handles(const EventType& type) {
  constexpr auto kCalls = std::to_array<std::string_view>({"sys_exit_mmap",
                                                           "sys_exit_munmap",
                                                           "sys_exit_mprotect",
                                                           "sys_exit_madvise",
                                                           "sys_exit_brk"});
  constexpr std::string_view kGroup = "syscalls:";
  return is_arena_type(type) ||
         (type.name.starts_with(kGroup) &&
          std::ranges::find(kCalls, std::string_view{type.name}.substr(kGroup.size())) !=
              kCalls.end());
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  std::vector<std::string> tables;
  ViewOptions of_processes;
  for (const std::string& key : options.by) {
    const bool is_table = std::ranges::find(kTableKeys, key) != kTableKeys.end();
    if (!is_table && !takes_key(kKeys, key)) {
      return unknown_key(key, kKeys);
    }
    (is_table ? tables : of_processes.by).push_back(key);
  }
  std::optional<KeySet> keys;
  if (!of_processes.by.empty()) {
    auto chosen = KeySet::choose(of_processes, kProcessKeys);
    if (!chosen.ok()) {
      return chosen.take_error();
    }
    keys = chosen.take();
  }
  return std::unique_ptr<View>(
      std::make_unique<Arenas>(std::move(tables), std::move(keys), options.wants_lines()));
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "arenas of glibc's malloc: who made them, who waits, how their heaps grow",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .of_programs = true,
    .handles = handles,
    .make = make,
};

}  // namespace memtrace::arenas_view
