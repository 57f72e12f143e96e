// vmscan: reclaim of memory, who spent how long in it and what it gained; slab shrinkers; kswapd.
#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "views/kit/cells.h"
#include "views/kit/group_by.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"
#include "views/kit/show_option.h"
#include "views/reclaim/reclaim_kinds.h"
#include "views/truth/folio_needs.h"

namespace memtrace::vmscan_view {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>(
    {"comm", "pid", "tid", "kind", "shrinker", "order", "gfp", "node", "stack", "cpu"});
constexpr auto kWorkKindsHere = std::to_array<WorkKind>({WorkKind::DirectReclaim,
                                                         WorkKind::MemcgReclaim,
                                                         WorkKind::SoftLimitReclaim,
                                                         WorkKind::NodeReclaim,
                                                         WorkKind::SlabShrink,
                                                         WorkKind::Kswapd});

struct ReclaimCost {
  std::uint64_t reclaims = 0;
  std::uint64_t time_ns = 0;  // that the process was held up
  std::uint64_t direct = 0;   // pages reclaimed, by kind
  std::uint64_t memcg = 0;
  std::uint64_t soft_limit = 0;
  std::uint64_t scanned = 0;
  std::uint64_t inactive = 0;
  std::uint64_t written = 0;
  std::uint64_t shrinks = 0;
  std::uint64_t slab_ns = 0;
  std::uint64_t objects = 0;
  std::uint64_t activated = 0;
  std::uint64_t deactivated = 0;
};

// The first ones fit on a line of 100.
constexpr std::size_t kUsualFigures = 9;
constexpr auto kFigures = std::to_array<Figure<ReclaimCost>>({
    figure<&ReclaimCost::reclaims>("reclaims"),
    figure<&ReclaimCost::time_ns>("time_ns", Unit::Nanoseconds),
    figure<&ReclaimCost::direct>("direct"),
    figure<&ReclaimCost::memcg>("cgroup"),
    figure<&ReclaimCost::scanned>("scanned"),
    figure<&ReclaimCost::inactive>("inactive"),
    figure<&ReclaimCost::written>("written"),
    figure<&ReclaimCost::shrinks>("shrinks"),
    figure<&ReclaimCost::slab_ns>("slab_ns", Unit::Nanoseconds),
    figure<&ReclaimCost::soft_limit>("softlimit"),
    figure<&ReclaimCost::activated>("activated"),
    figure<&ReclaimCost::deactivated>("deactivated"),
    figure<&ReclaimCost::objects>("objects"),
});
constexpr auto kOptions = std::to_array<ViewOption>(
    {show_option("show these columns instead of the default ones; memtrace help vmscan"),
     kHistOption});

struct ShrinkerCost {
  Durations durations;
  std::uint64_t objects = 0;
  std::uint64_t unknown_objects = 0;  // shrinks that do not say
};

constexpr auto kShrinkerFigures = std::to_array<Figure<ShrinkerCost>>({
    figure<&ShrinkerCost::durations, &Durations::count>("count"),
    figure<&ShrinkerCost::durations, &Durations::total_ns>("time_ns", Unit::Nanoseconds),
    average_figure<&ShrinkerCost::durations>(),
    percentile_figure<&ShrinkerCost::durations, 99>("p99_ns"),
    longest_figure<&ShrinkerCost::durations>(),
    {"objects",
     Unit::Count,
     [](const ShrinkerCost& c, const CellContext&) {
       return when(c.unknown_objects == 0, c.objects);
     }},
});

class Vmscan final : public View {
 public:
  Vmscan(KeySet keys,
         KeySet shrinker_keys,
         std::vector<Figure<ReclaimCost>> figures,
         const ViewOptions& options)
      : rows_(std::move(keys)),
        row_latency_(options, rows_.keys().size(), "latency", Unit::Nanoseconds),
        shrinkers_(std::move(shrinker_keys)),
        losses_(kWorkKindsHere),
        figures_(std::move(figures)) {}

  Result<> check(const std::deque<EventType>& types) override {
    events_ = reclaim_events(types);
    return kDone;
  }

  void on(const Event& event, const World& /*world*/) override;
  Report finish(const World& world, Span span) override;

 private:
  void on_work(const Event& event, const Work& work);
  void on_part(const Event& event);
  std::vector<std::string> notes(const World& world);
  std::vector<std::string_view> unknown_columns() const;

  GroupBy<ReclaimCost> rows_;
  AskedHistograms row_latency_;  // of reclaims that are not inside of another
  GroupBy<ShrinkerCost> shrinkers_;
  ReclaimKinds kinds_;
  ReclaimEvents events_;
  PairLosses losses_;
  FieldNames gfp_flags_ = gfp_flag_names();
  bool sampled_ = false;
  std::vector<Figure<ReclaimCost>> figures_;
};

// The time of a reclaim inside of another one is the other's already; kswapd holds nobody up.
bool is_within_reclaim(const Work& work) {
  return std::ranges::any_of(
      kWorkKindsHere, [&](WorkKind outer) { return is_reclaim(outer) && work.is_within(outer); });
}

void Vmscan::on(const Event& event, const World& /*world*/) {
  if (event.type->name == kPageAlloc) {
    return;  // the world learns from it how large folios are
  }
  sampled_ = sampled_ || event.weight > 1;
  gfp_flags_.learn(*event.type);
  const auto* shrink = std::get_if<LruShrink>(&event.payload);
  if (shrink != nullptr && shrink->pass == LruPass::Isolate && events_.reclaimed) {
    return;  // the event of the whole pass over these pages follows
  }
  kinds_.on(event);
  if (const auto* work = std::get_if<Work>(&event.payload)) {
    on_work(event, *work);
  } else {
    on_part(event);
  }
}

void Vmscan::on_work(const Event& event, const Work& work) {
  const bool whole = losses_.take(work, event.weight);
  const std::uint64_t pages = work.end.pages * event.weight;
  const std::uint64_t time_ns = work.duration_ns * event.weight;
  if (work.end.kind == WorkKind::Kswapd) {
    return;
  }
  ReclaimCost& cost = rows_.row(event);
  if (work.end.kind == WorkKind::SlabShrink) {
    cost.shrinks += event.weight;
    cost.slab_ns += work.is_within(WorkKind::SlabShrink) ? 0 : time_ns;
    cost.objects += pages;
    if (whole) {
      ShrinkerCost& shrinker = shrinkers_.row(event);
      shrinker.durations.add(work.duration_ns, event.weight);
      shrinker.objects += pages;
      shrinker.unknown_objects += work.end.has_pages ? 0 : event.weight;
    }
    return;
  }
  cost.reclaims += event.weight;
  if (!is_within_reclaim(work)) {
    cost.time_ns += time_ns;
    row_latency_.add(rows_.keys(), event, work.duration_ns, event.weight);
  }
  cost.direct += work.end.kind == WorkKind::DirectReclaim ? pages : 0;
  cost.memcg += work.end.kind == WorkKind::MemcgReclaim ? pages : 0;
  cost.soft_limit += work.end.kind == WorkKind::SoftLimitReclaim ? pages : 0;
}

void Vmscan::on_part(const Event& event) {
  if (const auto* shrink = std::get_if<LruShrink>(&event.payload)) {
    ReclaimCost& cost = rows_.row(event);
    cost.scanned += shrink->scanned * event.weight;
    cost.inactive += shrink->reclaimed * event.weight;
    cost.activated += shrink->activated * event.weight;
    cost.deactivated += shrink->deactivated * event.weight;
  } else if (const auto* write = std::get_if<ReclaimWrite>(&event.payload)) {
    rows_.row(event).written += write->pages * event.weight;
  }
}

std::vector<std::string> Vmscan::notes(const World& world) {
  std::vector<std::string> notes = losses_.notes(world);
  if (!events_.reclaimed && events_.scanned) {
    notes.emplace_back(
        "the recording has only the scanned pages (mm_vmscan_lru_isolate, active lists "
        "included), not the reclaimed ones");
  }
  if (!events_.memcg) {
    notes.emplace_back(
        "reclaim of memory cgroups was not recorded: this kernel has no event for it, or it was "
        "not asked for");
  }
  if (!events_.slab) {
    notes.emplace_back("slab shrinking was not recorded: no mm_shrink_slab events");
  }
  if (sampled_) {
    notes.emplace_back("only one in N events was sampled: begin and end are seldom both sampled");
  }
  return notes;
}

std::vector<std::string_view> Vmscan::unknown_columns() const {
  std::vector<std::string_view> columns;
  const auto add = [&](bool known, std::initializer_list<std::string_view> names) {
    if (!known) {
      columns.insert(columns.end(), names);
    }
  };
  add(events_.memcg, {"cgroup"});
  add(events_.soft_limit, {"softlimit"});
  add(events_.scanned, {"scanned"});
  add(events_.reclaimed, {"inactive", "activated", "deactivated"});
  add(events_.written, {"written"});
  add(events_.slab, {"shrinks", "slab_ns", "objects"});
  return columns;
}

Report Vmscan::finish(const World& world, Span span) {
  const WorkContext context{{.world = world, .span = span, .gfp_flags = gfp_flags_.names()}};
  kinds_.close(world, span);
  Report report{.view = "vmscan", .title = "reclaim of memory"};
  report.totals = kinds_.totals(events_);
  report.inconclusive = !events_.direct;
  Table& table = report.tables.emplace_back(rows_.table(figures_, context));
  sort_by(table, "time_ns");
  row_latency_.move_into(table, rows_.keys(), context);
  blank(table, unknown_columns());
  report.tables.push_back(kinds_.table(events_));
  Table& shrinkers = report.tables.emplace_back(shrinkers_.table(kShrinkerFigures, context));
  shrinkers.sort = "time_ns";
  report.histograms = kinds_.histograms();
  report.caveats.notes = notes(world);
  kinds_.check_sums(events_, world, report);
  rows_.clear();
  shrinkers_.clear();
  kinds_.clear();
  return report;
}

bool handles(const EventType& type) {
  return is_reclaim_event(type) || type.name == kPageAlloc;
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  const ViewOptions by_shrinker{.by = {"shrinker"}};
  return make_view<Vmscan>(KeySet::choose(options, kKeys, work_keys()),
                           KeySet::choose(by_shrinker, kKeys, work_keys()),
                           choose_figures(options, kFigures, kUsualFigures),
                           options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "reclaim: time, pages and kswapd; by process, kind, slab shrinker",
    .needs = kReclaimNeeds,
    .keys = kKeys,
    .options = kOptions,
    .looks_at_stack_keys_only = true,
    .parts = kWrittenFolioParts,
    .handles = handles,
    .rests_on = is_reclaim_event,
    .make = make,
};

}  // namespace memtrace::vmscan_view
