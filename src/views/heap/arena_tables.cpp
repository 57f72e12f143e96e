#include "views/heap/arena_tables.h"

#include <array>
#include <string>

#include "views/kit/cells.h"
#include "views/kit/figures.h"
#include "views/kit/group_by.h"

namespace memtrace {
namespace {

struct ArenaSum {
  std::uint64_t heaps = 0;
  std::uint64_t bytes = 0;
  std::uint64_t threads = 0;
};

std::map<std::uint64_t, ArenaSum> sums_of(const ArenaTracker& tracker) {
  std::map<std::uint64_t, ArenaSum> sums;
  for (const auto& [address, heap] : tracker.heaps()) {
    ++sums[heap.arena].heaps;
    sums[heap.arena].bytes += heap.bytes;
  }
  for (const auto& [tid, user] : tracker.users()) {
    ++sums[user.arena].threads;
  }
  return sums;
}

// What a process has of all.
struct ArenaCost {
  std::uint64_t arenas = 0;
  std::uint64_t heaps = 0;
  std::uint64_t bytes = 0;
  std::uint64_t threads = 0;
  std::uint64_t waits = 0;
};

constexpr auto kProcessFigures = std::to_array<Figure<ArenaCost>>({
    figure<&ArenaCost::arenas>("arenas"),
    figure<&ArenaCost::heaps>("heaps"),
    figure<&ArenaCost::bytes>("bytes", Unit::Bytes),
    figure<&ArenaCost::threads>("threads"),
    figure<&ArenaCost::waits>("waits"),
});

ArenaCost cost_of(const ArenaTracker& tracker) {
  ArenaCost cost{.arenas = tracker.arenas().size(),
                 .heaps = tracker.heaps().size(),
                 .threads = tracker.users().size()};
  for (const auto& [address, heap] : tracker.heaps()) {
    cost.bytes += heap.bytes;
  }
  for (const auto& [tid, user] : tracker.users()) {
    cost.waits += user.waits;
  }
  return cost;
}

Cell mmap_threshold(const ArenaStep& step, const CellContext& /*context*/) {
  return when(step.event.mmap_threshold_bytes);
}

Cell trim_threshold(const ArenaStep& step, const CellContext& /*context*/) {
  return when(step.event.trim_threshold_bytes);
}

}  // namespace

std::string_view name_of(ArenaOp op) {
  switch (op) {
    case ArenaOp::ArenaNew:
      return "new arena";
    case ArenaOp::ArenaReuse:
      return "takes an arena in use";
    case ArenaOp::ArenaReuseFreeList:
      return "takes a free arena";
    case ArenaOp::ArenaWait:
      return "waits for an arena";
    case ArenaOp::ArenaRetry:
      return "tries another arena";
    case ArenaOp::HeapNew:
      return "new heap";
    case ArenaOp::HeapMore:
      return "heap grows";
    case ArenaOp::HeapLess:
      return "heap shrinks";
    case ArenaOp::HeapFree:
      return "heap freed";
    case ArenaOp::SbrkMore:
      return "main heap grows";
    case ArenaOp::SbrkLess:
      return "main heap shrinks";
    case ArenaOp::Retry:
      return "failed, tries another arena";
    case ArenaOp::Thresholds:
      return "new thresholds";
    case ArenaOp::Other:
      return "other";
  }
  return "";
}

Table arena_process_table(const AllArenas& all, const KeySet& keys, const CellContext& context) {
  GroupBy<ArenaCost> rows(keys);
  for (const auto& [pid, process] : all) {
    rows.row_at(process.keys) += cost_of(process.tracker);
  }
  Table table = rows.table(kProcessFigures, context);
  table.sort = table.weight = "bytes";
  return table;
}

Table arena_table(const AllArenas& all, const World& world) {
  Table table{.title = "arenas, by creator",
              .columns = {{"arena", Unit::Address},
                          {"pid", Unit::Number},
                          {"tid", Unit::Number},
                          {"comm", Unit::Text},
                          {"heaps", Unit::Count},
                          {"bytes", Unit::Bytes},
                          {"threads", Unit::Count},
                          {"reuses", Unit::Count},
                          {"waits", Unit::Count}},
              .key_count = 4,
              .sort = "bytes",
              .weight = "bytes"};
  for (const auto& [pid, process] : all) {
    auto sums = sums_of(process.tracker);
    for (const auto& [address, arena] : process.tracker.arenas()) {
      const ArenaSum& sum = sums[address];
      table.rows.push_back({address,
                            std::uint64_t{pid},
                            unless_zero(arena.maker.tid),
                            text_of(world, arena.maker.comm),
                            sum.heaps,
                            sum.bytes,
                            sum.threads,
                            arena.reuses,
                            arena.waits});
    }
  }
  return table;
}

Table arena_user_table(const AllArenas& all, const World& world) {
  Table table{.title = "threads, by how often they waited",
              .columns = {{"tid", Unit::Number},
                          {"pid", Unit::Number},
                          {"comm", Unit::Text},
                          {"arena", Unit::Address},
                          {"waits", Unit::Count},
                          {"retries", Unit::Count}},
              .key_count = 4,
              .sort = "waits"};
  for (const auto& [pid, process] : all) {
    for (const auto& [tid, user] : process.tracker.users()) {
      table.rows.push_back({std::uint64_t{tid},
                            std::uint64_t{pid},
                            text_of(world, user.comm),
                            unless_zero(user.arena),
                            user.waits,
                            user.retries});
    }
  }
  return table;
}

Table arena_heap_table(const AllArenas& all, const World& world) {
  Table table{.title = "heaps",
              .columns = {{"heap", Unit::Address},
                          {"arena", Unit::Address},
                          {"pid", Unit::Number},
                          {"tid", Unit::Number},
                          {"comm", Unit::Text},
                          {"bytes", Unit::Bytes},
                          {"peak_bytes", Unit::Bytes},
                          {"grown", Unit::Count},
                          {"shrunk", Unit::Count}},
              .key_count = 5,
              .sort = "bytes"};
  for (const auto& [pid, process] : all) {
    for (const auto& [address, heap] : process.tracker.heaps()) {
      table.rows.push_back({address,
                            unless_zero(heap.arena),
                            std::uint64_t{pid},
                            unless_zero(heap.maker.tid),
                            text_of(world, heap.maker.comm),
                            heap.bytes,
                            heap.peak_bytes,
                            heap.grown,
                            heap.shrunk});
    }
  }
  return table;
}

Table threshold_table(EventList<ArenaStep>& steps, const CellContext& context) {
  return steps.table("changes of thresholds",
                     3,
                     {figure<&ArenaStep::pid>("pid", Unit::Number),
                      figure<&ArenaStep::task, &ArenaTask::tid>("tid", Unit::Number),
                      {"mmap_threshold", Unit::Bytes, mmap_threshold},
                      {"trim_threshold", Unit::Bytes, trim_threshold}},
                     context);
}

Table arena_lines(EventList<ArenaStep>& steps, const CellContext& context) {
  const auto comm = [](const ArenaStep& step, const CellContext& shown) {
    return text_of(shown.world, step.task.comm);
  };
  const auto what = [](const ArenaStep& step, const CellContext&) {
    return cell_of(name_of(step.event.op));
  };
  return steps.take(
      {{"comm", Unit::Text, comm},
       figure<&ArenaStep::pid>("pid", Unit::Number),
       figure<&ArenaStep::task, &ArenaTask::tid>("tid", Unit::Number),
       {"what", Unit::Text, what},
       figure_unless_zero<&ArenaStep::event, &ArenaEvent::address>("address", Unit::Address),
       figure_unless_zero<&ArenaStep::event, &ArenaEvent::bytes>("bytes", Unit::Bytes),
       {"mmap_threshold", Unit::Bytes, mmap_threshold},
       {"trim_threshold", Unit::Bytes, trim_threshold}},
      context);
}

}  // namespace memtrace
