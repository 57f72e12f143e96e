// enomem: system calls that were refused memory: who, how much, and what the limits were then.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "state/mapping/refused_memory.h"
#include "views/kit/cells.h"
#include "views/kit/group_by.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"
#include "views/mapping/call_keys.h"
#include "views/mapping/call_names.h"
#include "views/mapping/call_trace.h"
#include "views/mapping/memory_limits.h"
#include "views/mapping/refused_calls.h"

namespace memtrace::enomem_view {
namespace {

constexpr auto kOwnKeys = std::to_array<KeySpec>({kCallKey, kCallErrorKey});
constexpr auto kKeys =
    std::to_array<std::string_view>({"stack", "comm", "pid", "tid", "call", "error", "cpu"});
constexpr auto kOptions = std::to_array<ViewOption>({kTraceOption, kHistOption});

struct RefusalCost {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  Largest largest_bytes;
};

// What fork(2) and its like, and shmat(2), would have taken is not known.
constexpr auto kFigures = std::to_array<Figure<RefusalCost>>({
    figure<&RefusalCost::count>("count"),
    figure_unless_zero<&RefusalCost::bytes>("asked", Unit::Bytes),
    figure_unless_zero<&RefusalCost::largest_bytes, &Largest::value>("largest", Unit::Bytes),
});

// A call and, where /proc could no longer tell, the size of the process's address space.
struct Refusal : CallStep {
  std::uint64_t mapped_bytes = 0;  // at that moment; 0: not known
};

// With the size of the address space, which is not in /proc any more when the process has ended.
std::optional<Observation> limits_of(const Refusal& refusal, const World& world) {
  const Observation* seen = world.observations().find("limits", refusal.time_ns, refusal.tid);
  if (seen == nullptr) {
    return std::nullopt;
  }
  Observation limits = *seen;
  if (refusal.mapped_bytes > 0) {
    limits.facts.numbers.try_emplace("vm_size", refusal.mapped_bytes);
  }
  return limits;
}

std::uint64_t mapped_bytes(const World& world, std::uint32_t pid) {
  const MemoryMap* map = world.memory_maps().of(pid);
  return map == nullptr ? 0 : map->areas().covered();
}

Cell asked_cell(const Refusal& refusal, const CellContext& /*context*/) {
  return when(asked_bytes(refusal.done));
}

// brk(2) has no error: it leaves the top where it is.
Cell refusal_cell(const Refusal& refusal, const CellContext& /*context*/) {
  return refusal.done.failed() ? error_name(refusal.done.error()) : std::string("refused");
}

Cell exceeded_cell(const Refusal& refusal, const CellContext& context) {
  const auto limits = limits_of(refusal, context.world);
  return limits ? unless_empty(exceeded_limits(refusal.done, *limits)) : Cell();
}

Cell delay_cell(const Refusal& refusal, const CellContext& context) {
  const auto limits = limits_of(refusal, context.world);
  return limits ? Cell(limits->delay_ns) : Cell();
}

const ListColumns<Refusal>& refusal_columns() {
  static const ListColumns<Refusal> columns = {{"asked", Unit::Bytes, asked_cell},
                                               {"error", Unit::Text, refusal_cell},
                                               {"exceeds", Unit::Text, exceeded_cell}};
  return columns;
}

ListColumn<Refusal> limit_column(const LimitColumn& column) {
  return {column.fact, column.unit, [column](const Refusal& refusal, const CellContext& context) {
            const auto limits = limits_of(refusal, context.world);
            return limits ? fact(limits->facts, column.fact) : Cell();
          }};
}

class EnomemView final : public View {
 public:
  EnomemView(KeySet keys, const ViewOptions& options)
      : rows_(std::move(keys)),
        row_sizes_(options, rows_.keys().size(), "sizes asked for", Unit::Bytes),
        has_trace_(options.wants_lines()),
        has_stacks_(options.asks_for("stack")) {}

  void on(const Event& event, const World& world) override;
  Report finish(const World& world, Span span) override;
  Table take_lines(const World& world, Span span, Namer& namer) override;

 private:
  // The last refusal of each process and call, with a reading if any has one.
  using Place = std::pair<std::uint32_t, SystemCall>;

  void keep_last(const Refusal& refusal, const World& world);
  std::size_t ended_processes(const World& world) const;
  Table last_table(const CellContext& context) const;
  Table limit_table(const CellContext& context,
                    const char* title,
                    std::span<const LimitColumn> columns) const;

  GroupBy<RefusalCost> rows_;
  AskedHistograms row_sizes_;
  bool has_trace_ = false;
  bool has_stacks_ = false;  // of the lines
  std::map<Place, Refusal> last_;
  std::uint64_t calls_ = 0;  // refused or not
  EventList<Refusal> trace_;
};

void EnomemView::on(const Event& event, const World& world) {
  const auto* done = std::get_if<SystemCallDone>(&event.payload);
  if (done == nullptr) {
    return;
  }
  ++calls_;
  if (!was_refused_memory(*done)) {
    return;
  }
  const std::uint64_t bytes = asked_bytes(*done).value_or(0);
  rows_.row(event) +=
      {.count = event.weight, .bytes = event.weight * bytes, .largest_bytes = {bytes}};
  if (bytes > 0) {
    row_sizes_.add(rows_.keys(), event, bytes, event.weight);
  }
  const Refusal refusal{call_step(event, *done), mapped_bytes(world, event.pid)};
  keep_last(refusal, world);
  if (has_trace_) {
    trace_.add(refusal);
  }
}

// Not all events of a burst have a reading: the last one with a reading says more.
void EnomemView::keep_last(const Refusal& refusal, const World& world) {
  const auto [last, is_first] = last_.try_emplace({refusal.pid, refusal.done.call}, refusal);
  if (!is_first && limits_of(refusal, world)) {
    last->second = refusal;
  }
}

// Those of which /proc no longer had the limits, and the machine's do not explain the refusal.
std::size_t EnomemView::ended_processes(const World& world) const {
  std::set<std::uint32_t> ended;
  for (const auto& [place, refusal] : last_) {
    const auto limits = limits_of(refusal, world);
    if (limits && !has_process_limits(*limits) && exceeded_limits(refusal.done, *limits).empty()) {
      ended.insert(refusal.pid);
    }
  }
  return ended.size();
}

Table EnomemView::last_table(const CellContext& context) const {
  std::vector<Refusal> refusals;
  for (const auto& [place, refusal] : last_) {
    refusals.push_back(refusal);
  }
  ListColumns<Refusal> columns = call_columns(refusal_columns());
  columns.push_back({"read_after_ns", Unit::Nanoseconds, delay_cell});
  return list_table(
      "the last refusal of each process and call", kCallKeys, refusals, columns, context);
}

Table EnomemView::limit_table(const CellContext& context,
                              const char* title,
                              std::span<const LimitColumn> columns) const {
  Table table{.title = title,
              .columns = {{"pid", Unit::Number}, {"call", Unit::Text}},
              .key_count = 2,
              .fixed = true};
  for (const LimitColumn& column : columns) {
    table.columns.push_back({std::string(column.fact), column.unit});
  }
  for (const auto& [place, refusal] : last_) {
    auto& row = table.rows.emplace_back();
    row = {std::uint64_t{refusal.pid}, cell_of(call_name(refusal))};
    for (const LimitColumn& column : columns) {
      row.push_back(limit_column(column).of(refusal, context));
    }
  }
  return table;
}

Table EnomemView::take_lines(const World& world, Span span, Namer& /*namer*/) {
  ListColumns<Refusal> columns = call_columns(refusal_columns());
  for (const auto& limits : {process_limit_columns(), machine_limit_columns()}) {
    std::ranges::transform(limits, std::back_inserter(columns), limit_column);
  }
  columns.push_back({"read_after_ns", Unit::Nanoseconds, delay_cell});
  if (has_stacks_) {
    columns.push_back(figure<&CallStep::stack>("stack", Unit::Stack));
  }
  return trace_.take(columns, CellContext{.world = world, .span = span});
}

Report EnomemView::finish(const World& world, Span span) {
  const CellContext context{.world = world, .span = span};
  const RefusalCost total = rows_.total();
  Report report{.view = "enomem", .title = "system calls that were refused memory"};
  report.totals = {{"count", Unit::Count, total.count},
                   {"asked", Unit::Bytes, total.bytes},
                   {"calls", Unit::Count, calls_}};
  Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
  sort_by(table, "count");
  row_sizes_.move_into(table, rows_.keys(), context);
  if (!last_.empty()) {
    report.tables.push_back(last_table(context));
    report.tables.push_back(
        limit_table(context, "limits of the process at that moment", process_limit_columns()));
    report.tables.push_back(limit_table(
        context, "limits of the machine and the cgroup at that moment", machine_limit_columns()));
  }
  if (const std::uint64_t skipped = world.observations().skipped(); skipped > 0) {
    report.caveats.notes.push_back(
        fmt::format("the limits are not known for {} calls: there were too many events at once to "
                    "read /proc for each",
                    skipped));
  }
  if (const std::size_t ended = ended_processes(world); ended > 0) {
    report.caveats.notes.push_back(
        fmt::format("{} ended before the limits were read: exceeds knows those of the machine "
                    "alone, not RLIMIT_*, the number of mappings or the cgroup",
                    counted(ended, "process", "processes")));
  }
  rows_.clear();
  last_.clear();
  calls_ = 0;
  return report;
}

bool handles(const EventType& type) {
  return is_exit_of(type, kRefusedCalls);
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<EnomemView>(KeySet::choose(options, kKeys, kOwnKeys), options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary =
        "system calls that were refused memory: who, how much, and the limits at that moment",
    .needs = kRefusedCallNeeds,
    .keys = kKeys,
    .options = kOptions,
    .needs_memory_map = true,  // the size of an address space
    .needs_call_stacks = true,
    .needs_promptness = true,
    .handles = handles,
    .make = make,
};

}  // namespace memtrace::enomem_view
