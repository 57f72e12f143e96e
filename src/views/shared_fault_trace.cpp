#include "views/shared_fault_trace.h"

#include <algorithm>
#include <utility>

#include "views/shared_fault_keys.h"

namespace memtrace {
namespace {

// About 200 MB: more lines than anybody reads, and still room for a machine's other work.
constexpr std::size_t kMostFaults = 1'000'000;

std::string name_at(const Fault& fault, const World& world) {
  return fault.place.file.valid() ? std::string(world.strings().at(fault.place.file))
                                  : "[" + std::string(name_of(fault.place.kind)) + "]";
}

Cell since(std::uint64_t time_ns, View::Span span) {
  return time_ns > span.start_ns ? time_ns - span.start_ns : 0;
}

std::vector<Cell> row_of(const Fault& fault, const CellContext& context) {
  const bool failed = context.fault_ends_seen && !context.sampled;
  return {since(fault.time_ns, context.span),
          std::string(context.world.strings().at(fault.comm)),
          std::uint64_t{fault.pid},
          std::uint64_t{fault.tid},
          fault.entry.address,
          std::string(name_of(access_of(fault.entry))),
          std::string(name_of(class_of(fault), failed)),
          std::string(is_of_kernel(fault.entry) ? "kernel" : "user"),
          name_at(fault, context.world),
          fault.place.file.valid() ? Cell(fault.place.file_offset) : Cell(),
          fault.latency_ns ? Cell(*fault.latency_ns) : Cell()};
}

}  // namespace

void FaultTrace::add(const Fault& fault) {
  if (fault.count == 0) {
    return;  // it was listed when it began
  }
  if (faults_.size() < kMostFaults) {
    faults_.push_back(fault);
  } else {
    ++unlisted_;
  }
}

Table FaultTrace::take(const CellContext& context) {
  Table table{.title = "one by one",
              .columns = {{"at_ns", Unit::Nanoseconds},
                          {"comm", Unit::Text},
                          {"pid", Unit::Number},
                          {"tid", Unit::Number},
                          {"address", Unit::Address},
                          {"access", Unit::Text},
                          {"class", Unit::Text},
                          {"mode", Unit::Text},
                          {"file", Unit::Text},
                          {"offset", Unit::Address},
                          {"latency", Unit::Nanoseconds}},
              .key_count = 10,
              .fixed = true};
  std::ranges::stable_sort(faults_, {}, &Fault::time_ns);
  table.rows.reserve(faults_.size());
  for (const Fault& fault : faults_) {
    table.rows.push_back(row_of(fault, context));
  }
  faults_ = {};
  unlisted_ = 0;
  return table;
}

}  // namespace memtrace
