#include "views/heap/arena_tables.h"

#include <string>

#include "views/kit/cells.h"

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

Table threshold_table(const std::vector<ArenaStep>& steps, View::Span span) {
  Table table{.title = "changes of thresholds",
              .columns = {{"at_ns", Unit::Nanoseconds},
                          {"pid", Unit::Number},
                          {"tid", Unit::Number},
                          {"mmap_threshold", Unit::Bytes},
                          {"trim_threshold", Unit::Bytes}},
              .key_count = 3,
              .fixed = true};
  for (const ArenaStep& step : steps) {
    table.rows.push_back({since(step.time_ns, span.start_ns),
                          std::uint64_t{step.pid},
                          std::uint64_t{step.task.tid},
                          when(step.event.mmap_threshold_bytes),
                          when(step.event.trim_threshold_bytes)});
  }
  return table;
}

Table arena_trace(const std::vector<ArenaStep>& steps, const World& world, View::Span span) {
  Table table{.title = "what happened",
              .columns = {{"at_ns", Unit::Nanoseconds},
                          {"tid", Unit::Number},
                          {"comm", Unit::Text},
                          {"what", Unit::Text},
                          {"address", Unit::Address},
                          {"bytes", Unit::Bytes}},
              .key_count = 5,
              .fixed = true};
  for (const ArenaStep& step : steps) {
    table.rows.push_back({since(step.time_ns, span.start_ns),
                          std::uint64_t{step.task.tid},
                          text_of(world, step.task.comm),
                          std::string(name_of(step.event.op)),
                          unless_zero(step.event.address),
                          unless_zero(step.event.bytes)});
  }
  return table;
}

}  // namespace memtrace
