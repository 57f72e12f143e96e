// compaction: moving pages to make room for large blocks, and the making of huge pages.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "views/kit/group_by.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"
#include "views/reclaim/compaction_trace.h"
#include "views/reclaim/work_keys.h"
#include "views/truth/vmstat_check.h"
#include "views/truth/vmstat_totals.h"

namespace memtrace::compaction_view {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>(
    {"comm", "pid", "tid", "order", "status", "node", "zone", "mode", "gfp", "stack", "cpu"});
constexpr auto kNeeds =
    std::to_array<std::string_view>({"compaction:mm_compaction_migratepages",
                                     "migrate:mm_migrate_pages|",
                                     "compaction:mm_compaction_begin|",
                                     "compaction:mm_compaction_end|",
                                     "compaction:mm_compaction_suitable|",
                                     "compaction:mm_compaction_finished|",
                                     "compaction:mm_compaction_try_to_compact_pages|",
                                     "huge_memory:mm_khugepaged_scan_pmd|",
                                     "huge_memory:mm_collapse_huge_page_isolate|",
                                     "huge_memory:mm_collapse_huge_page_swapin|",
                                     "huge_memory:mm_collapse_huge_page|",
                                     "huge_memory:mm_khugepaged_scan_file|",
                                     "huge_memory:mm_khugepaged_collapse_file|"});
constexpr auto kOptions = std::to_array<ViewOption>({
    kHistOption,
    {"trace",
     "",
     "print a line for each compaction and each step to a huge page as it ends, in place of the "
     "report"},
});
constexpr auto kHugePageKeys = std::to_array<std::string_view>({"step", "result", "comm"});
constexpr auto kKinds = std::to_array<WorkKind>({WorkKind::Compaction});

struct CompactionCost {
  Durations durations;
  std::uint64_t count = 0;
  std::uint64_t migrated = 0;
  std::uint64_t failed = 0;
  std::uint64_t put_back = 0;
};

constexpr auto kFigures = std::to_array<Figure<CompactionCost>>({
    figure<&CompactionCost::count>("count"),
    figure<&CompactionCost::durations, &Durations::total_ns>("time_ns", Unit::Nanoseconds),
    average_figure<&CompactionCost::durations>(),
    percentile_figure<&CompactionCost::durations, 50>("p50_ns"),
    percentile_figure<&CompactionCost::durations, 99>("p99_ns"),
    longest_figure<&CompactionCost::durations>(),
    figure<&CompactionCost::migrated>("migrated"),
    figure<&CompactionCost::failed>("failed"),
    figure<&CompactionCost::put_back>("put_back"),
});

constexpr auto kOfWorks = std::to_array<std::string_view>({"count", "time_ns"});
constexpr auto kOfMigrations = std::to_array<std::string_view>({"failed"});

// MR_COMPACTION of enum migrate_reason (include/linux/migrate_mode.h).
constexpr std::int32_t kByCompaction = 0;

struct CountCost {
  std::uint64_t count = 0;
};

constexpr auto kCountFigures =
    std::to_array<Figure<CountCost>>({figure<&CountCost::count>("count")});

// enum scan_result (mm/khugepaged.c) has had these two values from its first kernel, 4.6, on.
constexpr std::int32_t kSucceeded = 1;

struct OutsideOfRows {
  std::uint64_t migrated_by_others = 0;  // pages, for other reasons than compaction
  std::uint64_t collapsed = 0;
  std::uint64_t not_collapsed = 0;
};

class Compaction final : public View {
 public:
  Compaction(KeySet keys, KeySet status_keys, KeySet huge_page_keys, const ViewOptions& options)
      : rows_(std::move(keys)),
        row_latency_(options, rows_.keys().size(), "latency", Unit::Nanoseconds),
        statuses_(std::move(status_keys)),
        huge_pages_(std::move(huge_page_keys)),
        list_(options),
        losses_(kKinds) {}

  Result<> check(const std::deque<EventType>& types) override {
    durations_known_ =
        std::ranges::find(types, "compaction:mm_compaction_end", &EventType::name) != types.end();
    migrations_known_ =
        std::ranges::find(types, "migrate:mm_migrate_pages", &EventType::name) != types.end();
    return kDone;
  }

  void on(const Event& event, const World& /*world*/) override;
  Report finish(const World& world, Span span) override;
  Table take_lines(const World& world, Span span, Namer& namer) override;

 private:
  void on_work(const Event& event, const Work& work);
  void add_moved(const Event& event, const CompactionCost& pages);
  std::vector<std::string> notes(const World& world);
  void add_tables(const WorkContext& context, Report& report);
  WorkContext context(const World& world, Span span, const FieldNames& statuses) const;
  std::vector<Total> totals(const World& world) const;
  void check_sums(const World& world, Report& report) const;

  GroupBy<CompactionCost> rows_;
  AskedHistograms row_latency_;
  GroupBy<CompactionCost> statuses_;
  GroupBy<CountCost> huge_pages_;
  CompactionTrace list_;
  PairLosses losses_;
  FieldNames gfp_flags_ = gfp_flag_names();
  FieldNames status_names_{"compaction:", {"status"}};
  FieldNames zone_names_{"compaction:", {"idx"}};
  FieldNames result_names_{"huge_memory:", {"status"}};
  CompactionCost moved_;  // pages alone, also of compactions that are in no row
  OutsideOfRows sums_;
  bool durations_known_ = true;
  bool migrations_known_ = true;
};

void Compaction::on(const Event& event, const World& /*world*/) {
  gfp_flags_.learn(*event.type);
  status_names_.learn(*event.type);
  zone_names_.learn(*event.type);
  result_names_.learn(*event.type);
  if (const auto* work = std::get_if<Work>(&event.payload)) {
    on_work(event, *work);
  } else if (const auto* moved = std::get_if<CompactionMoved>(&event.payload)) {
    add_moved(
        event,
        {.migrated = moved->migrated * event.weight, .put_back = moved->put_back * event.weight});
  } else if (const auto* collapse = std::get_if<Collapse>(&event.payload)) {
    huge_pages_.row(event).count += event.weight;
    list_.add(event);
    if (collapse->step == CollapseStep::Collapse || collapse->step == CollapseStep::CollapseFile) {
      (collapse->status == kSucceeded ? sums_.collapsed : sums_.not_collapsed) += event.weight;
    }
  }
}

// Rows have whole compactions, which loss may take apart.
void Compaction::add_moved(const Event& event, const CompactionCost& pages) {
  moved_ += pages;
  if (!durations_known_) {
    rows_.row(event) += pages;
  }
}

void Compaction::on_work(const Event& event, const Work& work) {
  if (work.end.kind == WorkKind::Migration) {
    if (work.end.reason == kByCompaction) {
      add_moved(event, {.failed = work.end.failed * event.weight});
    } else {
      sums_.migrated_by_others += work.end.pages * event.weight;
    }
    return;
  }
  CompactionCost cost{.count = event.weight,
                      .migrated = work.migrated,
                      .failed = work.failed,
                      .put_back = work.put_back};
  if (losses_.take(work, event.weight)) {
    cost.durations.add(work.duration_ns, event.weight);
    row_latency_.add(rows_.keys(), event, work.duration_ns, event.weight);
  }
  rows_.row(event) += cost;
  statuses_.row(event) += cost;
  list_.add(event);
}

std::vector<Total> Compaction::totals(const World& world) const {
  const CompactionCost total = rows_.total();
  std::vector<Total> totals;
  if (durations_known_) {
    totals.push_back({"count", Unit::Count, total.count});
    totals.push_back({"time_ns", Unit::Nanoseconds, total.durations.total_ns()});
  }
  totals.push_back({"migrated", Unit::Count, moved_.migrated});
  if (migrations_known_) {
    totals.push_back({"failed", Unit::Count, moved_.failed});
  }
  totals.push_back({"put_back", Unit::Count, moved_.put_back});
  totals.push_back({"collapsed", Unit::Count, sums_.collapsed});
  totals.push_back({"not_collapsed", Unit::Count, sums_.not_collapsed});
  // That a huge page was split has no event in any kernel.
  add_vmstat_totals(totals, world, {"thp_split_page", "thp_split_page_failed", "thp_split_pmd"});
  return totals;
}

void Compaction::add_tables(const WorkContext& context, Report& report) {
  for (const GroupBy<CompactionCost>* rows : {&rows_, &statuses_}) {
    Table& table = report.tables.emplace_back(rows->table(kFigures, context));
    table.sort = durations_known_ ? "time_ns" : "migrated";
    if (!durations_known_) {
      blank(table, kOfWorks);
    }
  }
  report.tables.front().weight = report.tables.front().sort;
  row_latency_.move_into(report.tables.front(), rows_.keys(), context);
  for (Table& table : report.tables) {
    if (!migrations_known_) {
      blank(table, kOfMigrations);
    }
  }
}

std::vector<std::string> Compaction::notes(const World& world) {
  std::vector<std::string> notes = losses_.notes(world);
  if (const auto in_rows = rows_.total().migrated; in_rows < moved_.migrated) {
    notes.push_back(fmt::format(
        "{} migrated pages are in no row: the begin or end of their compaction was not seen",
        moved_.migrated - in_rows));
  }
  if (!durations_known_) {
    notes.emplace_back(
        "the number and duration of compactions are not known: the recording has no "
        "mm_compaction_begin and mm_compaction_end");
  }
  if (!migrations_known_) {
    notes.emplace_back(
        "the number of pages that could not be moved is not known: the recording has no "
        "migrate:mm_migrate_pages; put_back includes them, and pages that were not tried");
  }
  return notes;
}

WorkContext Compaction::context(const World& world, Span span, const FieldNames& statuses) const {
  return {{.world = world, .span = span, .gfp_flags = gfp_flags_.names()},
          statuses.names(),
          zone_names_.names()};
}

Table Compaction::take_lines(const World& world, Span span, Namer& /*namer*/) {
  Table lines =
      list_.take(context(world, span, status_names_), context(world, span, result_names_));
  if (!migrations_known_) {
    blank(lines, kOfMigrations);
  }
  return lines;
}

// The counter of migrated pages has those of all reasons.
void Compaction::check_sums(const World& world, Report& report) const {
  VmstatCheck check(world);
  if (migrations_known_) {
    check.add(migrated_pages("all migrated", moved_.migrated + sums_.migrated_by_others));
  }
  check.add({.name = "collapsed",
             .counted = sums_.collapsed,
             .counters = {"thp_collapse_alloc"},
             .hint = "the counter has the huge pages that were allocated and then not used, too",
             .slack = 20});
  check.add_to(report);
}

Report Compaction::finish(const World& world, Span span) {
  Report report{.view = "compaction", .title = "compaction of memory and huge pages"};
  report.totals = totals(world);
  add_tables(context(world, span, status_names_), report);
  Table& huge_pages = report.tables.emplace_back(
      huge_pages_.table(kCountFigures, context(world, span, result_names_)));
  huge_pages.title = "huge pages made of small ones, step by step";
  huge_pages.sort = "count";
  report.caveats.notes = notes(world);
  check_sums(world, report);
  rows_.clear();
  statuses_.clear();
  huge_pages_.clear();
  sums_ = {};
  moved_ = {};
  return report;
}

Result<KeySet> keys_named(std::span<const std::string_view> names, std::span<const KeySpec> own) {
  ViewOptions options;
  options.by.assign(names.begin(), names.end());
  return KeySet::choose(options, names, own);
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Compaction>(KeySet::choose(options, kKeys, work_keys()),
                               keys_named(std::array{std::string_view("status")}, work_keys()),
                               keys_named(kHugePageKeys, memtrace::huge_page_keys()),
                               options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "compaction by process, order and outcome; collapses into huge pages",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .make = make,
};

}  // namespace memtrace::compaction_view
