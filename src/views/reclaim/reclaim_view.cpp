// reclaim: who had to reclaim memory himself before he got some, for how long and how much.
#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "views/kit/cells.h"
#include "views/kit/event_list.h"
#include "views/kit/group_by.h"
#include "views/kit/histogram.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"
#include "views/reclaim/work_keys.h"

namespace memtrace::reclaim_view {
namespace {

constexpr auto kKeys =
    std::to_array<std::string_view>({"comm", "pid", "tid", "kind", "order", "gfp", "stack", "cpu"});
constexpr auto kNeeds = std::to_array<std::string_view>({
    "vmscan:mm_vmscan_direct_reclaim_begin|kmem:mm_vmscan_direct_reclaim_begin",
    "vmscan:mm_vmscan_direct_reclaim_end|kmem:mm_vmscan_direct_reclaim_end",
    "vmscan:mm_vmscan_memcg_reclaim_begin|",
    "vmscan:mm_vmscan_memcg_reclaim_end|",
});
constexpr auto kOptions = std::to_array<ViewOption>({
    kHistOption,
    {"trace", "", "print a line for each reclaim as it ends, in place of the report"},
});
constexpr auto kTraceKeys =
    std::to_array<std::string_view>({"comm", "pid", "tid", "kind", "order", "gfp"});
constexpr auto kKinds = std::to_array<WorkKind>({WorkKind::DirectReclaim, WorkKind::MemcgReclaim});

struct ReclaimCost {
  Durations durations;
  std::uint64_t count = 0;
  std::uint64_t pages = 0;
};

constexpr auto kFigures = std::to_array<Figure<ReclaimCost>>({
    figure<&ReclaimCost::count>("count"),
    figure<&ReclaimCost::durations, &Durations::total_ns>("time_ns", Unit::Nanoseconds),
    average_figure<&ReclaimCost::durations>(),
    percentile_figure<&ReclaimCost::durations, 50>("p50_ns"),
    percentile_figure<&ReclaimCost::durations, 95>("p95_ns"),
    percentile_figure<&ReclaimCost::durations, 99>("p99_ns"),
    longest_figure<&ReclaimCost::durations>(),
    figure<&ReclaimCost::pages>("pages"),
});

const Work& work_of(const Event& event) {
  return std::get<Work>(event.payload);
}

Cell latency_cell(const Event& event, const CellContext& /*context*/) {
  return when(work_of(event).has_begin, work_of(event).duration_ns);
}

Cell seen_then(const Event& event, const CellContext& context, std::string_view name) {
  return fact(context.world.observations().find("reclaim", event.time_ns, event.tid), name);
}

Cell uid_cell(const Event& event, const CellContext& context) {
  const IdentityTable& identities = context.world.identities();
  return identities.knows_user(event.identity) ? cell_of(identities.uid(event.identity))
                                               : seen_then(event, context, "uid");
}

Cell free_cell(const Event& event, const CellContext& context) {
  return seen_then(event, context, "free");
}

constexpr auto kTraceFigures = std::to_array<Figure<Event>>({
    {"latency_ns", Unit::Nanoseconds, latency_cell},
    figure<work_of, &Work::end, &WorkEnd::pages>("pages"),
    {"uid", Unit::Number, uid_cell},
    {"free", Unit::Bytes, free_cell},
});

class Reclaims final : public View {
 public:
  Reclaims(KeySet keys, const ViewOptions& options)
      : rows_(std::move(keys)),
        losses_(kKinds),
        trace_(options.wants_lines()),
        has_stacks_(options.asks_for("stack")) {
    if (options.own.contains(std::string(kHistOption.name))) {
      row_latency_.emplace(rows_.keys().size());
    }
  }

  Result<> check(const std::deque<EventType>& types) override {
    memcg_seen_ = std::ranges::find(
                      types, "vmscan:mm_vmscan_memcg_reclaim_end", &EventType::name) != types.end();
    return kDone;
  }

  void on(const Event& event, const World& /*world*/) override {
    gfp_flags_.learn(*event.type);
    const auto* work = std::get_if<Work>(&event.payload);
    if (work == nullptr || std::ranges::find(kKinds, work->end.kind) == kKinds.end()) {
      return;
    }
    // A cgroup's reclaim inside of a direct one is part of its time and pages.
    if (!work->is_within(WorkKind::DirectReclaim)) {
      waited_ns_ += work->duration_ns * event.weight;
      pages_ += work->end.pages * event.weight;
    }
    ReclaimCost& cost = rows_.row(event);
    cost.count += event.weight;
    cost.pages += work->end.pages * event.weight;
    if (losses_.take(*work, event.weight)) {
      cost.durations.add(work->duration_ns, event.weight);
      histogram_.add(work->duration_ns, event.weight);
      if (row_latency_) {
        row_latency_->add(rows_.keys().of(event), work->duration_ns, event.weight);
      }
    }
    if (trace_) {
      list_.add(without_borrowed(event));
    }
  }

  Report finish(const World& world, Span span) override;
  Table take_lines(const World& world, Span span, Namer& namer) override;

 private:
  GroupBy<ReclaimCost> rows_;
  EventList<Event> list_;
  PairLosses losses_;
  ValueHistogram histogram_;
  std::optional<KeyedHistograms> row_latency_;
  FieldNames gfp_flags_ = gfp_flag_names();
  std::uint64_t waited_ns_ = 0;
  std::uint64_t pages_ = 0;
  bool memcg_seen_ = true;
  bool trace_ = false;
  bool has_stacks_ = false;  // of the lines
};

Report Reclaims::finish(const World& world, Span span) {
  const WorkContext work{{.world = world, .span = span, .gfp_flags = gfp_flags_.names()}};
  const CellContext& context = work;
  Report report{.view = "reclaim", .title = "processes that had to reclaim memory"};
  report.totals = {{"count", Unit::Count, rows_.total().count},
                   {"time_ns", Unit::Nanoseconds, waited_ns_},
                   {"pages", Unit::Count, pages_}};
  Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
  sort_by(table, "time_ns");
  if (row_latency_) {
    row_latency_->move_into(
        table, {.title = "latency", .unit = Unit::Nanoseconds}, rows_.keys(), context);
  }
  report.histograms.push_back(histogram_.histogram("latency of a reclaim", Unit::Nanoseconds));
  report.caveats.notes = losses_.notes(world);
  if (!memcg_seen_) {
    report.caveats.notes.emplace_back(
        "reclaim of memory cgroups was not recorded: this kernel has no event for it, or it was "
        "not asked for");
  }
  rows_.clear();
  histogram_.clear();
  waited_ns_ = pages_ = 0;
  return report;
}

Table Reclaims::take_lines(const World& world, Span span, Namer& /*namer*/) {
  const WorkContext work{{.world = world, .span = span, .gfp_flags = gfp_flags_.names()}};
  const CellContext& context = work;
  ListColumns<Event> columns = columns_of(kTraceKeys, work_keys(), kTraceFigures);
  if (has_stacks_) {
    columns.push_back(figure<&Event::stack>("stack", Unit::Stack));
  }
  return list_.take(columns, context);
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Reclaims>(KeySet::choose(options, kKeys, work_keys()), options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "direct and cgroup reclaim: latency and pages, by process or as a list",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .needs_promptness = true,
    .make = make,
};

}  // namespace memtrace::reclaim_view
