#include "views/reclaim/sync_calls.h"

#include <algorithm>
#include <array>
#include <string>

#include "views/mapping/call_keys.h"
#include "views/mapping/call_names.h"
#include "views/reclaim/work_keys.h"

namespace memtrace {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>({"comm", "call"});

constexpr auto kCalls = std::to_array<SystemCall>({SystemCall::Sync,
                                                   SystemCall::Syncfs,
                                                   SystemCall::Fsync,
                                                   SystemCall::Fdatasync,
                                                   SystemCall::Msync,
                                                   SystemCall::SyncFileRange});

bool is_sync(SystemCall call) {
  return std::ranges::find(kCalls, call) != kCalls.end();
}

KeySet keys() {
  ViewOptions options;
  options.by.assign(kKeys.begin(), kKeys.end());
  return KeySet::choose(options, kKeys, std::span(&kCallKey, 1)).take();
}

}  // namespace

SyncCalls::SyncCalls() : rows_(keys()) {}

std::span<const Figure<SyncCalls::Cost>> SyncCalls::figures() {
  static constexpr auto kFigures = std::to_array<Figure<Cost>>({
      figure<&Cost::count>("count"),
      figure<&Cost::failed>("failed"),
      figure<&Cost::bytes>("bytes", Unit::Bytes),
      figure<&Cost::durations, &Durations::total_ns>("time_ns", Unit::Nanoseconds),
      average_figure<&Cost::durations>(),
      percentile_figure<&Cost::durations, 99>("p99_ns"),
      longest_figure<&Cost::durations>(),
  });
  return kFigures;
}

void SyncCalls::on(const Event& event) {
  if (const auto* entry = std::get_if<SystemCallEntry>(&event.payload)) {
    if (is_sync(entry->call)) {
      written_[event.tid] = 0;
    }
  } else if (const auto* write = std::get_if<BlockWrite>(&event.payload)) {
    if (const auto found = written_.find(event.tid); found != written_.end()) {
      found->second += write->bytes * event.weight;
    }
  } else if (const auto* done = std::get_if<SystemCallDone>(&event.payload)) {
    if (!is_sync(done->call)) {
      return;
    }
    any_ = true;
    Cost& cost = rows_.row(event);
    cost.count += event.weight;
    cost.failed += done->failed() ? event.weight : 0;
    cost.durations.add(done->duration_ns, event.weight);
    cost.bytes += written_[event.tid];
    written_.erase(event.tid);
  }
}

Table SyncCalls::table(const CellContext& context) const {
  Table table = rows_.table(figures(), context);
  table.title = "calls that wait for the disk, by process";
  table.sort = "time_ns";
  return table;
}

void SyncCalls::clear() {
  rows_.clear();
  any_ = false;
}

bool is_sync_call(const EventType& type) {
  return std::ranges::any_of(kCalls, [&type](SystemCall call) {
    return type.name == "syscalls:sys_enter_" + std::string(name_of(call)) ||
           type.name == "syscalls:sys_exit_" + std::string(name_of(call));
  });
}

}  // namespace memtrace
