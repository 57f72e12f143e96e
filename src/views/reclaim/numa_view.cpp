// numa: pages that moved, or should have moved, from one place in memory to another: why, how many
// and how long it took.
#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "views/kit/group_by.h"
#include "views/kit/make_view.h"
#include "views/reclaim/node_faults.h"
#include "views/reclaim/work_keys.h"
#include "views/truth/vmstat_check.h"
#include "views/truth/vmstat_totals.h"

namespace memtrace::numa_view {
namespace {

constexpr auto kKeys =
    std::to_array<std::string_view>({"reason", "comm", "pid", "tid", "stack", "cpu"});
constexpr auto kNeeds = std::to_array<std::string_view>({"migrate:mm_migrate_pages",
                                                         "migrate:mm_migrate_pages_start|",
                                                         "minor-faults|",
                                                         "major-faults|",
                                                         "exceptions:page_fault_user|"});
// What counts is who, where and how, not the code.
constexpr auto kParts = std::to_array<EventNarrowing>(
    {{.event = "exceptions:page_fault_user", .stacks = EventNarrowing::Stacks::None}});
constexpr auto kKinds = std::to_array<WorkKind>({WorkKind::Migration});

// MR_NUMA_MISPLACED of enum migrate_reason (include/linux/migrate_mode.h).
constexpr std::int32_t kMisplaced = 5;

struct MigrationCost {
  Durations durations;
  std::uint64_t count = 0;
  std::uint64_t migrated = 0;
  std::uint64_t failed = 0;
};

constexpr auto kFigures = std::to_array<Figure<MigrationCost>>({
    figure<&MigrationCost::count>("count"),
    figure<&MigrationCost::migrated>("migrated"),
    figure<&MigrationCost::failed>("failed"),
    figure<&MigrationCost::durations, &Durations::total_ns>("time_ns", Unit::Nanoseconds),
    average_figure<&MigrationCost::durations>(),
    percentile_figure<&MigrationCost::durations, 50>("p50_ns"),
    percentile_figure<&MigrationCost::durations, 99>("p99_ns"),
    longest_figure<&MigrationCost::durations>(),
});
constexpr auto kOfBegins = std::to_array<std::string_view>({"time_ns"});

class Numa final : public View {
 public:
  explicit Numa(KeySet keys) : rows_(std::move(keys)), losses_(kKinds) {}

  Result<> check(const std::deque<EventType>& types) override {
    begins_known_ =
        std::ranges::find(types, "migrate:mm_migrate_pages_start", &EventType::name) != types.end();
    return kDone;
  }

  void on(const Event& event, const World& /*world*/) override;
  Report finish(const World& world, Span span) override;

 private:
  std::vector<std::string> notes(const World& world);

  GroupBy<MigrationCost> rows_;
  PairLosses losses_;
  NodeFaults faults_;
  FieldNames reason_names_{"migrate:", {"reason"}};
  MigrationCost misplaced_;
  bool begins_known_ = true;
};

void Numa::on(const Event& event, const World& /*world*/) {
  reason_names_.learn(*event.type);
  if (const auto* fault = std::get_if<PageFault>(&event.payload)) {
    faults_.on(event, *fault);
    return;
  }
  const auto* work = std::get_if<Work>(&event.payload);
  if (work == nullptr || work->end.kind != WorkKind::Migration) {
    return;
  }
  MigrationCost cost{.count = event.weight,
                     .migrated = work->end.pages * event.weight,
                     .failed = work->end.failed * event.weight};
  if (losses_.take(*work, begins_known_ ? event.weight : 0)) {
    cost.durations.add(work->duration_ns, event.weight);
  }
  rows_.row(event) += cost;
  if (work->end.reason == kMisplaced) {
    misplaced_ += cost;
  }
}

std::vector<std::string> Numa::notes(const World& world) {
  std::vector<std::string> notes = losses_.notes(world);
  if (!begins_known_) {
    notes.emplace_back(
        "how long migrations took is not known: the recording has no mm_migrate_pages_start "
        "(Linux 5.15)");
  }
  return notes;
}

Report Numa::finish(const World& world, Span span) {
  const WorkContext context{{.world = world, .span = span}, {}, {}, reason_names_.names()};
  Report report{.view = "numa", .title = "migrations of pages"};
  const MigrationCost total = rows_.total();
  report.totals = {{"numa_migrations", Unit::Count, misplaced_.migrated},
                   {"migrated", Unit::Count, total.migrated},
                   {"failed", Unit::Count, total.failed}};
  if (begins_known_) {
    report.totals.push_back({"time_ns", Unit::Nanoseconds, total.durations.total_ns()});
    report.totals.push_back({"numa_ns", Unit::Nanoseconds, misplaced_.durations.total_ns()});
  }
  add_vmstat_totals(
      report.totals, world, {"numa_pages_migrated", "numa_hint_faults", "numa_hint_faults_local"});
  Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
  sort_by(table, "migrated");
  if (!begins_known_) {
    blank(table, kOfBegins);
  }
  report.caveats.notes = notes(world);
  VmstatCheck check(world);
  check.add(migrated_pages("migrated", total.migrated));
  check.add_to(report);
  report.inconclusive = total.count == 0 && !faults_.any();
  if (faults_.any()) {
    report.tables.push_back(faults_.table(world, report.caveats.notes));
  }
  faults_.clear();
  rows_.clear();
  misplaced_ = {};
  return report;
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Numa>(KeySet::choose(options, kKeys, work_keys()));
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "page migrations: reason, number and duration; page faults by NUMA node",
    .needs = kNeeds,
    .keys = kKeys,
    .options = {},
    .needs_physical_addresses = true,
    .parts = kParts,
    .make = make,
};

}  // namespace memtrace::numa_view
