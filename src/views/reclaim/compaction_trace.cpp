#include "views/reclaim/compaction_trace.h"

#include <array>

#include "views/kit/cells.h"
#include "views/reclaim/work_keys.h"

namespace memtrace {
namespace {

constexpr auto kWorkTraceKeys = std::to_array<std::string_view>(
    {"comm", "pid", "tid", "node", "zone", "order", "mode", "status"});
constexpr auto kZoneKeys = std::to_array<std::string_view>({"node", "zone", "order"});
constexpr auto kStepKeys = std::to_array<std::string_view>({"comm", "pid", "step", "result"});

const Work& work_of(const Event& event) {
  return std::get<Work>(event.payload);
}

Cell latency_cell(const Event& event, const CellContext& /*context*/) {
  return when(work_of(event).has_begin, work_of(event).duration_ns);
}

constexpr auto kWorkFigures = std::to_array<Figure<Event>>({
    {"latency_ns", Unit::Nanoseconds, latency_cell},
    figure<work_of, &Work::migrated>("migrated"),
    figure<work_of, &Work::failed>("failed"),
    figure<work_of, &Work::put_back>("put_back"),
});

const Observation* zone_then(const Event& event, const CellContext& context) {
  return context.world.observations().find("zone", event.time_ns, event.tid);
}

ListColumn<Event> zone_column(std::string_view name, Unit unit) {
  return {name, unit, [name](const Event& event, const CellContext& context) {
            return fact(zone_then(event, context), name);
          }};
}

Cell delay_cell(const Event& event, const CellContext& context) {
  const Observation* seen = zone_then(event, context);
  return seen == nullptr ? Cell() : Cell(seen->delay_ns);
}

ListColumns<Event> zone_columns() {
  ListColumns<Event> columns = columns_of(kZoneKeys, work_keys());
  for (const char* mark : {"free", "min", "low", "high"}) {
    columns.push_back(zone_column(mark, Unit::Bytes));
  }
  columns.push_back(zone_column("fragmentation", Unit::Text));
  columns.push_back({"read_after_ns", Unit::Nanoseconds, delay_cell});
  return columns;
}

std::uint64_t step_word(const Event& event) {
  return static_cast<std::uint64_t>(std::get<Collapse>(event.payload).step);
}

Cell step_cell(std::uint64_t word, const CellContext& /*context*/) {
  constexpr std::array<std::string_view, 6> kNames = {
      "scan", "isolate", "swap in", "collapse", "scan file", "collapse file"};
  return std::string(kNames[word]);
}

// Swapping in answers yes or no; its 1 has the same name as the others'.
std::uint64_t result_word(const Event& event) {
  return static_cast<std::uint64_t>(std::get<Collapse>(event.payload).status);
}

Cell result_cell(std::uint64_t word, const CellContext& context) {
  return name_of(static_cast<std::int64_t>(word), own_context<WorkContext>(context).statuses);
}

constexpr auto kHugePageSpecs =
    std::to_array<KeySpec>({{"step", Unit::Text, step_word, nullptr, step_cell},
                            {"result", Unit::Text, result_word, nullptr, result_cell}});

}  // namespace

std::span<const KeySpec> huge_page_keys() {
  return kHugePageSpecs;
}

void CompactionTrace::add_compactions(const CellContext& context, std::vector<Table>& tables) {
  tables.push_back(compactions_.table("compactions",
                                      1 + kWorkTraceKeys.size(),
                                      columns_of(kWorkTraceKeys, work_keys(), kWorkFigures),
                                      context));
  tables.push_back(compactions_.table(
      "zones after the compactions", 1 + kZoneKeys.size(), zone_columns(), context));
  compactions_.clear();
}

void CompactionTrace::add_steps(const CellContext& context, std::vector<Table>& tables) {
  tables.push_back(steps_.table("steps to huge pages, one by one",
                                1 + kStepKeys.size(),
                                columns_of(kStepKeys, kHugePageSpecs),
                                context));
  steps_.clear();
}

}  // namespace memtrace
