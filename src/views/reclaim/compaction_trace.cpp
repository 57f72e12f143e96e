#include "views/reclaim/compaction_trace.h"

#include <array>

#include "views/kit/cells.h"
#include "views/reclaim/work_keys.h"

namespace memtrace {
namespace {

// A list of both kinds of events: cells of the other kind are blank.
struct LineContext : CellContext {
  const CellContext& of_works;
  const CellContext& of_steps;

  LineContext(const CellContext& works, const CellContext& steps)
      : CellContext(works), of_works(works), of_steps(steps) {}
};

using Columns = ListColumns<Event, LineContext>;

const Work* work_of(const Event& event) {
  return std::get_if<Work>(&event.payload);
}

Cell latency_cell(const Event& event, const LineContext& /*context*/) {
  const Work* work = work_of(event);
  return work == nullptr ? Cell() : when(work->has_begin, work->duration_ns);
}

template <std::uint64_t Work::*Pages>
Cell pages_cell(const Event& event, const LineContext& /*context*/) {
  const Work* work = work_of(event);
  return work == nullptr ? Cell() : Cell{work->*Pages};
}

const Observation* zone_then(const Event& event, const LineContext& context) {
  return work_of(event) == nullptr
             ? nullptr
             : context.world.observations().find("zone", event.time_ns, event.tid);
}

Columns::value_type zone_column(std::string_view name, Unit unit) {
  return {name, unit, [name](const Event& event, const LineContext& context) {
            return fact(zone_then(event, context), name);
          }};
}

Cell delay_cell(const Event& event, const LineContext& context) {
  const Observation* seen = zone_then(event, context);
  return seen == nullptr ? Cell() : Cell(seen->delay_ns);
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

// A key that any event has, or only works.
Columns::value_type key_column(std::string_view name, bool is_of_works) {
  const auto own = std::ranges::find(work_keys(), name, &KeySpec::name);
  const KeySpec spec = own == work_keys().end() ? *find_shared_key(name) : *own;
  return {spec.name, spec.unit, [=](const Event& event, const LineContext& context) {
            return is_of_works && work_of(event) == nullptr
                       ? Cell()
                       : spec.cell(spec.of(event), context.of_works);
          }};
}

// "compaction", or the step to a huge page.
Cell what_cell(const Event& event, const LineContext& context) {
  return work_of(event) == nullptr ? step_cell(step_word(event), context) : Cell("compaction");
}

Cell end_cell(const Event& event, const LineContext& context) {
  if (work_of(event) == nullptr) {
    return result_cell(result_word(event), context.of_steps);
  }
  const KeySpec& status = *std::ranges::find(work_keys(), "status", &KeySpec::name);
  return status.cell(status.of(event), context.of_works);
}

Columns line_columns(bool has_stacks) {
  Columns columns;
  for (const char* key : {"comm", "pid", "tid"}) {
    columns.push_back(key_column(key, false));
  }
  columns.push_back({"what", Unit::Text, what_cell});
  for (const char* key : {"node", "zone", "order", "mode"}) {
    columns.push_back(key_column(key, true));
  }
  columns.push_back({"status", Unit::Text, end_cell});
  columns.push_back({"latency_ns", Unit::Nanoseconds, latency_cell});
  columns.push_back({"migrated", Unit::Count, pages_cell<&Work::migrated>});
  columns.push_back({"failed", Unit::Count, pages_cell<&Work::failed>});
  columns.push_back({"put_back", Unit::Count, pages_cell<&Work::put_back>});
  for (const char* mark : {"free", "min", "low", "high"}) {
    columns.push_back(zone_column(mark, Unit::Bytes));
  }
  columns.push_back(zone_column("fragmentation", Unit::Text));
  columns.push_back({"read_after_ns", Unit::Nanoseconds, delay_cell});
  if (has_stacks) {
    columns.push_back(figure<&Event::stack>("stack", Unit::Stack));
  }
  return columns;
}

}  // namespace

std::span<const KeySpec> huge_page_keys() {
  return kHugePageSpecs;
}

Table CompactionTrace::take(const CellContext& of_compactions, const CellContext& of_steps) {
  return events_.take(line_columns(has_stacks_), LineContext(of_compactions, of_steps));
}

}  // namespace memtrace
