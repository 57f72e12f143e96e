// hfaults: page faults that were served with a huge page, transparent or of hugetlb.
#include <fmt/core.h>

#include <array>
#include <optional>
#include <utility>

#include "views/fault/fault_cost.h"
#include "views/fault/fault_keys.h"
#include "views/fault/fault_needs.h"
#include "views/kit/durations.h"
#include "views/kit/group_by.h"
#include "views/kit/kernel_probe_events.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"
#include "views/truth/vmstat_check.h"

namespace memtrace::hfaults_view {
namespace {

constexpr auto kDefaultBy = std::to_array<std::string_view>({"comm", "pid"});
constexpr auto kOptions = std::to_array<ViewOption>({kHistOption});
constexpr auto kKeys = std::to_array<std::string_view>({"comm",
                                                        "pid",
                                                        "tid",
                                                        "stack",
                                                        "class",
                                                        "access",
                                                        "kind",
                                                        "file",
                                                        "size",
                                                        "mode",
                                                        "page",
                                                        "cpu"});

struct HugeCost {
  std::uint64_t hugetlb = 0;
  std::uint64_t thp = 0;
  std::uint64_t mthp = 0;
  std::uint64_t fallback = 0;
  std::uint64_t failed = 0;
  std::uint64_t shared_thp = 0;  // of these, in shared memory and files
  std::uint64_t shared_mthp = 0;
  Durations latency = {};

  std::uint64_t count() const { return hugetlb + thp + mthp; }
};

// A smaller difference from the kernel's counters means nothing.
constexpr std::uint64_t kSlackFolios = 20;

struct HugeContext : FaultContext {
  bool hugetlb_seen = false;  // faults that a kernel probe reported
};

constexpr auto kFigures = std::to_array<Figure<HugeCost, HugeContext>>({
    figure<&HugeCost::count>("count"),
    figure<&HugeCost::thp>("thp"),
    figure<&HugeCost::mthp>("mthp"),
    figure_if<&HugeContext::hugetlb_seen, &HugeCost::hugetlb>("hugetlb"),
    figure<&HugeCost::fallback>("fallback"),
    figure_if<&HugeContext::hugetlb_seen, &HugeCost::failed>("failed"),
    latency_figure<&HugeCost::latency, &Durations::total_ns>("time"),
    latency_figure<&HugeCost::latency, &Durations::min_ns>("min"),
    latency_figure<&HugeCost::latency, &Durations::average_ns>("avg"),
    latency_figure<&HugeCost::latency, &Durations::max_ns>("max"),
});

// record --kprobes: hugetlb_fault(mm, vma, address, flags), for any task that faults.
bool is_probed_fault(const EventType& type) {
  return is_kernel_probe(type, "hugetlb_fault");
}

std::optional<std::uint64_t> probed_number(const Event& event, std::string_view name) {
  const Field* field = event.type->format.find(name);
  return field == nullptr ? std::nullopt : std::optional(field->number(event.raw));
}

void add_folio(HugeCost& cost, const Fault& fault) {
  if (fault.folio_bytes == 0) {
    cost.fallback = fault.huge_failures > 0 ? fault.weight : 0;
    return;
  }
  const bool is_huge = fault.huge_pages > 0;
  const bool is_shared =
      fault.place.kind == PlaceKind::SharedMemory || fault.place.kind == PlaceKind::File;
  (is_huge ? cost.thp : cost.mthp) = fault.weight;
  (is_huge ? cost.shared_thp : cost.shared_mthp) = is_shared ? fault.weight : 0;
}

class HugeFaults final : public View {
 public:
  HugeFaults(const FaultKeys& keys, const ViewOptions& options)
      : rows_(keys),
        row_latency_(options, rows_.keys().size(), "latency", Unit::Nanoseconds),
        pairing_(keys.shared(), [this](const Fault& fault) { count(fault); }) {
    if (!keys.has("class")) {
      pairing_.ignore_zero_pages();
    }
  }

  Result<> check(const std::deque<EventType>& types) override {
    pairing_.check(types);
    for (const EventType& type : types) {
      is_probed_ = is_probed_ || is_probed_fault(type);
    }
    return kDone;
  }

  void on(const Event& event, const World& world) override {
    if (!pairing_.on(event, world) && is_probed_fault(*event.type)) {
      on_probe(event, world);
    }
  }

  Report finish(const World& world, Span span) override;

 private:
  void count(const Fault& fault);
  void on_probe(const Event& event, const World& world);
  std::vector<std::string> notes(const World& world) const;
  void check_sums(const HugeCost& total, const World& world, Report& report) const;

  GroupBy<HugeCost, FaultKeys> rows_;
  AskedHistograms row_latency_;
  FaultPairing pairing_;
  bool is_probed_ = false;
  std::uint64_t by_probe_alone_ = 0;
};

// A fault of a program has begun before with an exception, and may be tried again inside. The
// kernel's own access to user memory (mm/gup.c: MAP_POPULATE, mlock, direct I/O) raises none and is
// no event when it ends. Sampled faults are kept apart from the probe's altogether.
void HugeFaults::on_probe(const Event& event, const World& world) {
  is_probed_ = true;
  const auto address = probed_number(event, "address");
  Fault alone = pairing_.without_place(event);
  alone.entry.address = address.value_or(0);
  Fault* begun = pairing_.seen().sampled ? nullptr : pairing_.newest(event.tid);
  if (begun != nullptr && (!address || page_of(begun->entry) == page_of(alone.entry))) {
    begun->place.kind = PlaceKind::Hugetlb;
    return;
  }
  if (address) {
    alone.place = place_of(world, event.pid, *address);
  }
  alone.place.kind = PlaceKind::Hugetlb;
  alone.entry.in_kernel = !pairing_.seen().sampled;
  if (const auto flags = probed_number(event, "flags")) {
    // FAULT_FLAG_WRITE is bit 0 in every kernel, the bit of a write in x86's error code is bit 1.
    alone.entry.has_error_code = true;
    alone.entry.error_code = (*flags & 1U) << 1U;
  }
  by_probe_alone_ += event.weight;
  rows_.row(alone).hugetlb += event.weight;
}

void HugeFaults::count(const Fault& fault) {
  const bool of_hugetlb = fault.place.kind == PlaceKind::Hugetlb;
  if (of_hugetlb && is_probed_ && pairing_.seen().sampled) {
    return;  // the probe reports each
  }
  HugeCost cost;
  if (fault.end == FaultEnd::Open) {
    cost.failed = of_hugetlb ? fault.count : 0;
  } else if (of_hugetlb) {
    cost.hugetlb = fault.weight;
  } else {
    add_folio(cost, fault);
  }
  if (cost.count() > 0 && fault.latency_ns) {
    cost.latency.add(*fault.latency_ns, fault.weight);
    row_latency_.add(rows_.keys(), fault, *fault.latency_ns, fault.weight);
  }
  if (cost.count() + cost.fallback + cost.failed > 0) {
    rows_.row(fault) += cost;
  }
}

std::vector<std::string> HugeFaults::notes(const World& world) const {
  std::vector<std::string> notes =
      is_probed_ ? std::vector<std::string>() : place_notes(pairing_.seen(), world);
  if (!pairing_.seen().page_allocs) {
    notes.emplace_back(
        "transparent huge pages are not seen: the recording lacks kmem:mm_page_alloc");
  }
  if (by_probe_alone_ > 0) {
    notes.push_back(fmt::format(
        "{} hugetlb faults are known only from the kprobe on hugetlb_fault: they are "
        "the kernel's own accesses, or their begin was not recorded; their latency is not "
        "known",
        by_probe_alone_));
  }
  return notes;
}

// The kernel counts huge pages of shared memory elsewhere, with those that write(2) makes.
void HugeFaults::check_sums(const HugeCost& total, const World& world, Report& report) const {
  if (!pairing_.seen().page_allocs || pairing_.seen().sampled) {
    return;
  }
  constexpr std::string_view kHint = "a huge page whose mapping is not known counts as anonymous";
  VmstatCheck check(world);
  check.add({.name = "anonymous thp",
             .counted = total.thp - total.shared_thp,
             .counters = {"thp_fault_alloc"},
             .hint = kHint,
             .own_event = kPageAlloc,
             .some_are_own = true,
             .slack = kSlackFolios});
  check.add({.name = "anonymous mthp",
             .counted = total.mthp - total.shared_mthp,
             .counters = {"hugepages-16kB/anon_fault_alloc",
                          "hugepages-32kB/anon_fault_alloc",
                          "hugepages-64kB/anon_fault_alloc",
                          "hugepages-128kB/anon_fault_alloc",
                          "hugepages-256kB/anon_fault_alloc",
                          "hugepages-512kB/anon_fault_alloc",
                          "hugepages-1024kB/anon_fault_alloc"},
             .hint = kHint,
             .own_event = kPageAlloc,
             .some_are_own = true,
             .slack = kSlackFolios});
  check.add_to(report);
}

Report HugeFaults::finish(const World& world, Span span) {
  pairing_.report_open();
  const FaultEvents& seen = pairing_.seen();
  const HugeContext context{fault_context(seen, world, span), is_probed_ || knows_places(world)};
  Report report{.view = "hfaults", .title = "huge page faults"};
  const HugeCost total = rows_.total();
  report.totals = {{"count", Unit::Count, total.count()},
                   {"thp", Unit::Count, total.thp},
                   {"mthp", Unit::Count, total.mthp},
                   {"hugetlb", Unit::Count, total.hugetlb},
                   {"time", Unit::Nanoseconds, total.latency.total_ns()}};
  Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
  sort_by(table, "count");
  row_latency_.move_into(table, rows_.keys(), context);
  report.inconclusive = table.rows.empty();
  report.nothing_happened = seen.page_allocs || context.hugetlb_seen;
  report.caveats.notes = notes(world);
  check_sums(total, world, report);
  rows_.clear();
  by_probe_alone_ = 0;
  return report;
}

bool handles(const EventType& type) {
  return is_of_faults(type) || is_probed_fault(type);
}

bool rests_on(const EventType& type) {
  return is_fault_event(type) || is_probed_fault(type);
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<HugeFaults>(FaultKeys::choose(options, kKeys), options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "page faults served with huge pages, transparent or of hugetlb",
    .needs = kFaultNeeds,
    .keys = kKeys,
    .default_by = kDefaultBy,
    .options = kOptions,
    .needs_memory_map = true,
    .looks_at_stack_keys_only = true,
    .parts = kFaultParts,
    .handles = handles,
    .rests_on = rests_on,
    .make = make,
};

}  // namespace memtrace::hfaults_view
