// growth: resident memory by the stack that touched it first, from page faults alone.
#include <fmt/core.h>

#include <array>
#include <utility>

#include "base/text.h"
#include "views/fault/fault_keys.h"
#include "views/fault/fault_needs.h"
#include "views/kit/group_by.h"
#include "views/kit/make_view.h"
#include "views/resident/resident_count.h"

namespace memtrace::growth_view {
namespace {

constexpr auto kKeys =
    std::to_array<std::string_view>({"stack", "comm", "pid", "tid", "kind", "file"});
// Pages are taken away by the calls that the table of mappings needs, and by madvise(2).
constexpr auto kNeeds = std::to_array<std::string_view>({"exceptions:page_fault_user|page-faults",
                                                         "exceptions:page_fault_kernel|",
                                                         "kmem:mm_page_alloc|",
                                                         "syscalls:sys_enter_madvise|",
                                                         "syscalls:sys_exit_madvise|"});

struct ResidentCost {
  std::uint64_t resident = 0;
  std::uint64_t beside = 0;
  std::uint64_t touched = 0;
  std::uint64_t freed = 0;
  std::uint64_t gone = 0;
  std::uint64_t ended = 0;

  bool empty() const { return resident + touched + freed + gone + ended == 0; }
};

struct GrowthContext : FaultContext {
  bool calls_seen = false;  // that give memory back
};

constexpr auto kFigures = std::to_array<Figure<ResidentCost, GrowthContext>>({
    figure<&ResidentCost::resident>("resident", Unit::Bytes),
    figure<&ResidentCost::beside>("beside", Unit::Bytes),
    figure<&ResidentCost::touched>("touched", Unit::Bytes),
    figure_if<&GrowthContext::calls_seen, &ResidentCost::freed>("freed", Unit::Bytes),
    figure<&ResidentCost::gone>("gone", Unit::Bytes),
    figure<&ResidentCost::ended>("ended", Unit::Bytes),
});

class ResidentGrowth final : public View {
 public:
  ResidentGrowth(const FaultKeys& keys, TaskFilter tasks) : rows_(keys), tasks_(std::move(tasks)) {}

  Result<> check(const std::deque<EventType>& types) override;

  void on(const Event& /*event*/, const World& /*world*/) override {}  // the world counts

  Report finish(const World& world, Span span) override;

 private:
  void add_rows(const World& world, const ResidentCount& count);
  Table process_table(const World& world, const ResidentCount& count) const;
  std::vector<std::string> notes(const World& world, const ResidentCount& count) const;

  GroupBy<ResidentCost, FaultKeys> rows_;
  TaskFilter tasks_;
  std::vector<FirstTouches::Sums> before_;  // what the last report has counted
  bool sees_calls_ = false;
  bool sees_huge_pages_ = false;
  bool sees_access_ = false;
};

// As if it had been touched now: what was touched before the time that is reported is resident,
// too.
LiveBlock touching_block(const FirstTouch& touch, const World& world) {
  return {.time_ns = world.counted_from_ns(),
          .pid = touch.pid,
          .tid = touch.tid,
          .comm = touch.comm,
          .stack = touch.stack,
          .identity = touch.identity,
          .life = touch.life};
}

FaultPlace touched_place(const FirstTouch& touch, const World& world) {
  if (!touch.has_area) {
    return {.kind = knows_places(world) ? PlaceKind::Unmapped : PlaceKind::Unknown};
  }
  const bool has_file = world.strings().at(touch.path).starts_with('/');
  return {.kind = place_kind(touch.kind), .file = has_file ? touch.path : StringId()};
}

Result<> ResidentGrowth::check(const std::deque<EventType>& types) {
  for (const EventType& type : types) {
    sees_calls_ = sees_calls_ || type.name == "syscalls:sys_enter_munmap" ||
                  type.name.starts_with("raw_syscalls:sys_enter");
    sees_huge_pages_ = sees_huge_pages_ || type.name == "kmem:mm_page_alloc";
    sees_access_ = sees_access_ || type.name.starts_with("exceptions:page_fault");
  }
  return kDone;
}

void ResidentGrowth::add_rows(const World& world, const ResidentCount& count) {
  const FirstTouches& first = world.first_touches();
  const std::uint64_t bytes = world.page_size_bytes() * first.weight();
  before_.resize(first.sums().size());
  for (std::size_t i = 0; i < first.touches().size(); ++i) {
    const FirstTouch& touch = first.touches()[i];
    const LiveBlock block = touching_block(touch, world);
    if (!tasks_.accepts(world, block)) {
      continue;
    }
    const TouchedPages& pages = count.touches()[i];
    const FirstTouches::Sums& sums = first.sums()[i];
    const ResidentCost cost{.resident = pages.resident * bytes,
                            .beside = pages.beside * bytes,
                            .touched = (sums.touched - before_[i].touched) * bytes,
                            .freed = (sums.freed - before_[i].freed) * bytes,
                            .gone = pages.gone * bytes,
                            .ended = (pages.ended + sums.ended) * bytes};
    if (!cost.empty()) {
      rows_.row(Fault{.keys = rows_.keys().shared().of(block),
                      .place = touched_place(touch, world)}) += cost;
    }
  }
  before_ = first.sums();
}

Table ResidentGrowth::process_table(const World& world, const ResidentCount& count) const {
  Table table{.title = "by process at the end",
              .columns = {{"comm", Unit::Text},
                          {"pid", Unit::Number},
                          {"rss_begin", Unit::Bytes},
                          {"rss", Unit::Bytes},
                          {"by_stack", Unit::Bytes},
                          {"before", Unit::Bytes},
                          {"inherited", Unit::Bytes},
                          {"unexplained", Unit::Bytes},
                          {"swap", Unit::Bytes}},
              .key_count = 2,
              .sort = "rss"};
  for (const ResidentCount::Process& process : count.processes()) {
    if (tasks_.accepts_process(world, process.pid)) {
      table.rows.push_back({process.comm,
                            std::uint64_t{process.pid},
                            when(process.rss_begin),
                            process.rss,
                            process.by_stack,
                            process.before,
                            process.inherited,
                            process.unexplained(),
                            process.swap});
    }
  }
  return table;
}

std::vector<std::string> ResidentGrowth::notes(const World& world,
                                               const ResidentCount& count) const {
  std::vector<std::string> notes;
  if (const std::uint64_t unseen = count.unseen_processes(); unseen > 0) {
    notes.push_back(
        fmt::format("resident is at most what {} touched and did not give back: "
                    "/proc/PID/pagemap was not read at the end",
                    counted(unseen, "process", "processes")));
  }
  if (!sees_calls_) {
    notes.emplace_back(
        "freed is not known: the recording lacks the system calls that give memory back; record "
        "with --for growth");
  }
  if (!sees_access_) {
    notes.emplace_back(
        "a page that was only read counts as touched: only exceptions:page_fault_user reports "
        "whether memory was read or written");
  }
  if (!sees_huge_pages_) {
    notes.emplace_back(
        "the pages of a huge page but the first count as beside: the recording lacks "
        "kmem:mm_page_alloc");
  }
  if (world.first_touches().weight() > 1) {
    notes.emplace_back(
        "only one in N faults was sampled: figures are estimates, and pages beside touched ones "
        "are not counted");
  }
  return notes;
}

Report ResidentGrowth::finish(const World& world, Span span) {
  const ResidentCount count(world, span.end_ns);
  add_rows(world, count);
  const GrowthContext context{{CellContext{.world = world, .span = span}}, sees_calls_};
  const ResidentCost total = rows_.total();
  Report report{.view = "growth", .title = "resident memory by who touched it first"};
  report.totals = {{"resident", Unit::Bytes, total.resident},
                   {"touched", Unit::Bytes, total.touched},
                   {"gone", Unit::Bytes, total.gone},
                   {"ended", Unit::Bytes, total.ended}};
  if (sees_calls_) {
    report.totals.push_back({"freed", Unit::Bytes, total.freed});
  }
  Table& table = report.tables.emplace_back(std::move(rows_).take_table(kFigures, context));
  // Of a command that has ended it matters what it held.
  sort_by(table, total.resident == 0 && total.ended > 0 ? "ended" : "resident");
  if (!count.processes().empty()) {
    report.tables.push_back(process_table(world, count));
  }
  report.caveats.notes = notes(world, count);
  return report;
}

bool handles(const EventType& type) {
  return is_fault_event(type) || type.name == "kmem:mm_page_alloc";
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<ResidentGrowth>(FaultKeys::choose(options, kKeys), options.tasks);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "resident memory by the stack that touched it first, without probes",
    .needs = kNeeds,
    .keys = kKeys,
    .options = {},
    .needs_memory_map = true,
    .needs_resident_pages = true,
    .looks_at_stack_keys_only = true,
    .parts = kFaultParts,
    .handles = handles,
    .rests_on = is_fault_event,
    .make = make,
};

}  // namespace memtrace::growth_view
