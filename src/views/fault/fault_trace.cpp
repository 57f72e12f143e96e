#include "views/fault/fault_trace.h"

#include <algorithm>
#include <utility>

#include "views/fault/fault_keys.h"
#include "views/kit/cells.h"

namespace memtrace {
namespace {

// RecordingFacts 200 MB: more lines than anybody reads, and still room for a machine's other work.
constexpr std::size_t kMaxFaults = 1'000'000;

std::string name_at(const Fault& fault, const World& world) {
  return fault.place.file.valid() ? std::string(world.strings().at(fault.place.file))
                                  : "[" + std::string(name_of(fault.place.kind)) + "]";
}

constexpr std::ptrdiff_t kModeColumn = 7;

std::vector<Cell> row_of(const Fault& fault, const CellContext& context) {
  const bool failed = context.fault_ends_seen && !context.sampled;
  return {since(fault.time_ns, context.span.start_ns),
          cell_of(context.world.strings().at(fault.comm)),
          std::uint64_t{fault.pid},
          std::uint64_t{fault.tid},
          fault.entry.address,
          std::string(name_of(access_of(fault.entry))),
          std::string(name_of(class_of(fault), failed)),
          name_at(fault, context.world),
          when(fault.place.file.valid(), fault.place.file_offset),
          when(fault.latency_ns),
          unless_invalid(fault.code)};
}

}  // namespace

void FaultTrace::add(const Fault& fault) {
  if (fault.count == 0) {
    return;  // it was listed when it began
  }
  if (faults_.size() < kMaxFaults) {
    faults_.push_back(fault);
  } else {
    ++unlisted_;
  }
}

Table FaultTrace::take(const CellContext& context, bool has_mode) {
  Table table{.title = "one by one",
              .columns = {{"at_ns", Unit::Nanoseconds},
                          {"comm", Unit::Text},
                          {"pid", Unit::Number},
                          {"tid", Unit::Number},
                          {"address", Unit::Address},
                          {"access", Unit::Text},
                          {"class", Unit::Text},
                          {"file", Unit::Text},
                          {"offset", Unit::Address},
                          {"latency", Unit::Nanoseconds},
                          {"code", Unit::Text}},
              .key_count = 9,
              .fixed = true};
  if (has_mode) {
    table.columns.insert(table.columns.begin() + kModeColumn, {"mode", Unit::Text});
    ++table.key_count;
  }
  std::ranges::stable_sort(faults_, {}, &Fault::time_ns);
  table.rows.reserve(faults_.size());
  for (const Fault& fault : faults_) {
    table.rows.push_back(row_of(fault, context));
    if (has_mode) {
      std::vector<Cell>& row = table.rows.back();
      row.insert(row.begin() + kModeColumn,
                 std::string(is_of_kernel(fault.entry) ? "kernel" : "user"));
    }
  }
  faults_ = {};
  unlisted_ = 0;
  return table;
}

}  // namespace memtrace
