// hfaults: page faults that were served with a huge page, transparent or of hugetlb.
#include <array>
#include <utility>

#include "views/group_by.h"
#include "views/latency.h"
#include "views/shared_fault_cost.h"
#include "views/shared_fault_keys.h"
#include "views/shared_fault_needs.h"

namespace memtrace {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>(
    {"comm", "pid", "tid", "stack", "class", "access", "kind", "file", "mode", "page", "cpu"});

struct HugeCost {
  std::uint64_t hugetlb = 0;
  std::uint64_t thp = 0;
  std::uint64_t fallback = 0;
  std::uint64_t failed = 0;
  LatencySummary latency = {};

  HugeCost& operator+=(const HugeCost& other) {
    hugetlb += other.hugetlb;
    thp += other.thp;
    fallback += other.fallback;
    failed += other.failed;
    latency += other.latency;
    return *this;
  }

  std::uint64_t count() const { return hugetlb + thp; }
};

Cell if_mapped(std::uint64_t faults, const CellContext& context) {
  return knows_places(context.world) ? Cell(faults) : Cell();
}

constexpr auto kFigures = std::to_array<Figure<HugeCost>>({
    {"count", Unit::Count, [](const HugeCost& c, const CellContext&) { return Cell(c.count()); }},
    {"thp", Unit::Count, [](const HugeCost& c, const CellContext&) { return Cell(c.thp); }},
    {"hugetlb",
     Unit::Count,
     [](const HugeCost& c, const CellContext& x) { return if_mapped(c.hugetlb, x); }},
    {"fallback",
     Unit::Count,
     [](const HugeCost& c, const CellContext&) { return Cell(c.fallback); }},
    {"failed",
     Unit::Count,
     [](const HugeCost& c, const CellContext& x) { return if_mapped(c.failed, x); }},
    {"time",
     Unit::Nanoseconds,
     [](const HugeCost& c, const CellContext&) { return if_timed(c.latency, c.latency.sum_ns()); }},
    {"min",
     Unit::Nanoseconds,
     [](const HugeCost& c, const CellContext&) { return if_timed(c.latency, c.latency.min_ns()); }},
    {"avg",
     Unit::Nanoseconds,
     [](const HugeCost& c, const CellContext&) {
       return if_timed(c.latency, c.latency.average_ns());
     }},
    {"max",
     Unit::Nanoseconds,
     [](const HugeCost& c, const CellContext&) { return if_timed(c.latency, c.latency.max_ns()); }},
});

class HugeFaults final : public View {
 public:
  explicit HugeFaults(const FaultKeys& keys)
      : rows_(keys), pairing_(keys.shared(), [this](const Fault& fault) { count(fault); }) {}

  Result<> check(const std::deque<EventType>& types) override {
    pairing_.check(types);
    return kDone;
  }

  void on(const Event& event, const World& world) override { pairing_.on(event, world); }

  Report finish(const World& world, Span span) override;

 private:
  void count(const Fault& fault);

  GroupBy<HugeCost, FaultKeys> rows_;
  FaultPairing pairing_;
};

void HugeFaults::count(const Fault& fault) {
  const bool of_hugetlb = fault.place.kind == PlaceKind::Hugetlb;
  HugeCost cost;
  if (fault.end == FaultEnd::Open) {
    cost.failed = of_hugetlb ? fault.count : 0;
  } else if (of_hugetlb) {
    cost.hugetlb = fault.weight;
  } else if (fault.huge_pages > 0) {
    cost.thp = fault.weight;
  } else {
    cost.fallback = fault.huge_failures > 0 ? fault.weight : 0;
  }
  if (cost.count() > 0 && fault.latency_ns) {
    cost.latency.add(*fault.latency_ns, fault.weight);
  }
  if (cost.count() + cost.fallback + cost.failed > 0) {
    rows_.row(fault) += cost;
  }
}

Report HugeFaults::finish(const World& world, Span span) {
  pairing_.report_open();
  const FaultEvents& seen = pairing_.seen();
  const CellContext context{
      .world = world, .span = span, .fault_ends_seen = seen.ends, .sampled = seen.sampled};
  Report report;
  report.view = "hfaults";
  report.title = "huge page faults";
  const HugeCost total = rows_.total();
  report.totals = {{"count", Unit::Count, total.count()},
                   {"thp", Unit::Count, total.thp},
                   {"hugetlb", Unit::Count, total.hugetlb},
                   {"time", Unit::Nanoseconds, total.latency.sum_ns()}};
  Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
  table.sort = "count";
  table.weight = "count";
  report.inconclusive = table.rows.empty();
  report.caveats.notes = place_notes(seen, world);
  if (!seen.page_allocs) {
    report.caveats.notes.emplace_back(
        "transparent huge pages are not seen: the recording lacks kmem:mm_page_alloc");
  }
  rows_.clear();
  return report;
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  ViewOptions with_default = options;
  if (with_default.by.empty()) {
    with_default.by = {"comm", "pid"};
  }
  auto keys = FaultKeys::choose(with_default, kKeys);
  if (!keys.ok()) {
    return keys.take_error();
  }
  return std::unique_ptr<View>(std::make_unique<HugeFaults>(keys.value()));
}

}  // namespace

extern const ViewSpec view_hfaults;
constinit const ViewSpec view_hfaults{
    .summary = "page faults served with huge pages, transparent ones and hugetlb's apart",
    .needs = kFaultNeeds,
    .keys = kKeys,
    .options = {},
    .needs_memory_map = true,
    .parts = kFaultParts,
    .handles = is_fault_or_page_alloc,
    .rests_on = is_fault_event,
    .make = make,
};

}  // namespace memtrace
