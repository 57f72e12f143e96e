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

constexpr auto kWorkFigures = std::to_array<Figure<Event>>({
    {"latency_ns",
     Unit::Nanoseconds,
     [](const Event& e, const CellContext&) {
       return when(work_of(e).has_begin, work_of(e).duration_ns);
     }},
    {"migrated",
     Unit::Count,
     [](const Event& e, const CellContext&) { return Cell(work_of(e).migrated); }},
    {"failed",
     Unit::Count,
     [](const Event& e, const CellContext&) { return Cell(work_of(e).failed); }},
    {"put_back",
     Unit::Count,
     [](const Event& e, const CellContext&) { return Cell(work_of(e).put_back); }},
});

const Observation* zone_then(const Event& event, const CellContext& context) {
  return context.world.observations().find("zone", event.time_ns, event.tid);
}

enum class Mark : std::uint8_t { Free, Min, Low, High };

template <Mark kMark>
Cell mark_cell(const Event& event, const CellContext& context) {
  constexpr std::array<std::string_view, 4> kNames = {"free", "min", "low", "high"};
  return fact(zone_then(event, context), kNames.at(static_cast<std::size_t>(kMark)));
}

constexpr auto kZoneFigures = std::to_array<Figure<Event>>({
    {"free", Unit::Bytes, mark_cell<Mark::Free>},
    {"min", Unit::Bytes, mark_cell<Mark::Min>},
    {"low", Unit::Bytes, mark_cell<Mark::Low>},
    {"high", Unit::Bytes, mark_cell<Mark::High>},
    {"fragmentation",
     Unit::Text,
     [](const Event& e, const CellContext& x) { return fact(zone_then(e, x), "fragmentation"); }},
    {"read_after_ns",
     Unit::Nanoseconds,
     [](const Event& e, const CellContext& x) {
       const Observation* seen = zone_then(e, x);
       return seen == nullptr ? Cell() : Cell(seen->delay_ns);
     }},
});

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
  return name_of(static_cast<std::int64_t>(word), context.statuses);
}

constexpr auto kHugePageSpecs =
    std::to_array<KeySpec>({{"step", Unit::Text, step_word, nullptr, step_cell},
                            {"result", Unit::Text, result_word, nullptr, result_cell}});

}  // namespace

std::span<const KeySpec> huge_page_keys() {
  return kHugePageSpecs;
}

CompactionTrace::CompactionTrace()
    : compactions_(kWorkTraceKeys, work_keys(), kWorkFigures),
      zones_(kZoneKeys, work_keys(), kZoneFigures),
      steps_(kStepKeys, kHugePageSpecs, {}) {}

void CompactionTrace::add_compaction(const Event& event) {
  compactions_.add(event);
  zones_.add(event);
}

void CompactionTrace::add_compactions(const CellContext& context, std::vector<Table>& tables) {
  tables.push_back(compactions_.table("compactions", context));
  tables.push_back(zones_.table("zones after the compactions", context));
  compactions_.clear();
  zones_.clear();
}

void CompactionTrace::add_steps(const CellContext& context, std::vector<Table>& tables) {
  tables.push_back(steps_.table("steps to huge pages, one by one", context));
  steps_.clear();
}

}  // namespace memtrace
