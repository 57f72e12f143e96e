// swapin: who waits for swap, how many pages are read from it, and who makes pages go there.

#include <array>
#include <optional>
#include <utility>

#include "base/hash_map.h"
#include "base/text.h"
#include "views/fault/fault_cost.h"
#include "views/fault/fault_keys.h"
#include "views/fault/fault_needs.h"
#include "views/fault/swap_stacks.h"
#include "views/kit/durations.h"
#include "views/kit/group_by.h"
#include "views/kit/kernel_probe_events.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"
#include "views/kit/user_pages.h"
#include "views/truth/vmstat_check.h"
#include "views/truth/vmstat_totals.h"

namespace memtrace::swapin_view {
namespace {

// mm_vmscan_writepage became write_folio in 5.18; both have reclaim_flags.
constexpr auto kNeeds =
    std::to_array<std::string_view>({"exceptions:page_fault_user|page-faults",
                                     "exceptions:page_fault_kernel|",
                                     "minor-faults",
                                     "major-faults",
                                     "kmem:mm_page_alloc|",
                                     "vmscan:mm_vmscan_write_folio|vmscan:mm_vmscan_writepage|"
                                     "kmem:mm_vmscan_writepage|"});
constexpr auto kParts = std::to_array<EventNarrowing>({
    {.event = "minor-faults", .stacks = EventNarrowing::Stacks::None},
    {.event = "major-faults", .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:mm_page_alloc", .stacks = EventNarrowing::Stacks::Kernel},
});

constexpr auto kDefaultBy = std::to_array<std::string_view>({"comm", "pid"});
constexpr auto kOptions = std::to_array<ViewOption>({kHistOption});
constexpr auto kKeys = std::to_array<std::string_view>(
    {"comm", "pid", "tid", "stack", "kind", "file", "mode", "page", "cpu"});

struct SwapCost {
  std::uint64_t count = 0;
  std::uint64_t pages = 0;
  std::uint64_t out = 0;
  Durations latency = {};
};

struct SwapContext : FaultContext {
  bool pages_seen = false;  // that swap was read into
  bool outs_seen = false;   // pages that were written to swap
};

constexpr auto kFigures = std::to_array<Figure<SwapCost, SwapContext>>({
    figure<&SwapCost::count>("count"),
    figure_if<&SwapContext::pages_seen, &SwapCost::pages>("pages"),
    figure_if<&SwapContext::outs_seen, &SwapCost::out>("out"),
    latency_figure<&SwapCost::latency, &Durations::total_ns>("time"),
    latency_figure<&SwapCost::latency, &Durations::average_ns>("avg"),
    percentile_figure<&SwapCost::latency, 99>("p99"),
    latency_figure<&SwapCost::latency, &Durations::max_ns>("max"),
});

bool is_write_event(const EventType& type) {
  return type.name.ends_with(":mm_vmscan_write_folio") ||
         type.name.ends_with(":mm_vmscan_writepage");
}

// record --kprobes: one for each page, since 6.5 for each folio.
bool is_probed_read(const EventType& type) {
  return is_kernel_probe(type, "swap_readpage") || is_kernel_probe(type, "swap_read_folio");
}

class SwapIns final : public View {
 public:
  SwapIns(const FaultKeys& keys, const ViewOptions& options)
      : rows_(keys),
        row_latency_(options, rows_.keys().size(), "latency", Unit::Nanoseconds),
        namer_(options.namer),
        pairing_(keys.shared(), [this](const Fault& fault) { count(fault); }) {
    pairing_.ignore_zero_pages();
  }

  Result<> check(const std::deque<EventType>& types) override {
    pairing_.check(types);
    for (const EventType& type : types) {
      outs_seen_ = outs_seen_ || is_write_event(type);
      reads_probed_ = reads_probed_ || is_probed_read(type);
    }
    return kDone;
  }

  void on(const Event& event, const World& world) override;
  Report finish(const World& world, Span span) override;

 private:
  // Pages that were allocated under one stack of the kernel, for one row.
  struct Allocated {
    KeyWords keys;
    StackId stack;
    std::uint64_t pages = 0;
  };

  void count(const Fault& fault);
  void on_page_alloc(const Event& event, const PageAlloc& alloc);
  void on_write(const Event& event);
  KeyWords keys_of(const Event& event);
  void settle_pages(const World& world);
  std::vector<Total> totals(const World& world) const;
  std::vector<std::string> notes(const World& world) const;
  void check_sums(const World& world, Report& report) const;

  GroupBy<SwapCost, FaultKeys> rows_;
  AskedHistograms row_latency_;
  Namer* namer_ = nullptr;
  FaultPairing pairing_;
  FieldNames gfp_flags_ = gfp_flag_names();
  UserPages user_pages_;
  SwapStacks stacks_;
  std::vector<Allocated> allocated_;  // in the order in which they came: so come the rows
  HashMap<std::uint64_t, std::size_t> indexes_;  // by keys and stack
  bool outs_seen_ = false;
  bool reads_probed_ = false;  // no guess from stacks is needed
};

void SwapIns::on(const Event& event, const World& world) {
  if (pairing_.on(event, world)) {
    return;
  }
  if (const auto* alloc = std::get_if<PageAlloc>(&event.payload)) {
    on_page_alloc(event, *alloc);
  } else if (is_write_event(*event.type)) {
    on_write(event);
  } else if (is_probed_read(*event.type)) {
    reads_probed_ = true;
    rows_.row_at(keys_of(event)).pages += event.weight;
  }
}

// A fault without an end waited for nothing that came; a minor one found its page in memory.
void SwapIns::count(const Fault& fault) {
  const bool of_swap = fault.place.is_anonymous() || fault.place.kind == PlaceKind::SharedMemory;
  if (fault.end != FaultEnd::Major || !of_swap) {
    return;
  }
  SwapCost cost{.count = fault.weight};
  if (fault.latency_ns) {
    cost.latency.add(*fault.latency_ns, fault.weight);
    row_latency_.add(rows_.keys(), fault, *fault.latency_ns, fault.weight);
  }
  rows_.row(fault) += cost;
}

// What happens in a fault belongs to it, whatever the stack of the event itself.
KeyWords SwapIns::keys_of(const Event& event) {
  const Fault* fault = pairing_.newest(event.tid);
  return rows_.keys().of(fault != nullptr ? *fault : pairing_.without_place(event));
}

void SwapIns::on_page_alloc(const Event& event, const PageAlloc& alloc) {
  gfp_flags_.learn(*event.type);
  if (reads_probed_ || alloc.failed || !user_pages_.has(alloc.gfp, gfp_flags_.names())) {
    return;
  }
  const KeyWords keys = keys_of(event);
  const auto [index, is_new] =
      indexes_.try_emplace(hash_words(keys.words, event.stack.id().value), allocated_.size());
  Allocated& allocated = is_new ? allocated_.emplace_back() : allocated_[index->second];
  allocated.keys = keys;
  allocated.stack = event.stack;
  allocated.pages += event.weight << alloc.order;
}

void SwapIns::on_write(const Event& event) {
  outs_seen_ = true;
  const auto* write = std::get_if<ReclaimWrite>(&event.payload);
  if (write != nullptr && !write->of_file) {
    rows_.row(pairing_.without_place(event)).out += write->pages * event.weight;
  }
}

// The stacks are named here, once for each, and not as the events come.
void SwapIns::settle_pages(const World& world) {
  for (const Allocated& allocated : allocated_) {
    if (namer_ != nullptr && stacks_.is_swap_in(allocated.stack, world, *namer_)) {
      rows_.row_at(allocated.keys).pages += allocated.pages;
    }
  }
  allocated_.clear();
  indexes_.clear();
}

std::vector<Total> SwapIns::totals(const World& world) const {
  const SwapCost total = rows_.total();
  std::vector<Total> totals = {{"count", Unit::Count, total.count}};
  if (reads_probed_ || stacks_.has_names()) {
    totals.push_back({"pages", Unit::Count, total.pages});
  }
  if (outs_seen_) {
    totals.push_back({"out", Unit::Count, total.out});
  }
  add_vmstat_totals(totals, world, {"pswpin", "pswpout"});
  return totals;
}

std::vector<std::string> SwapIns::notes(const World& world) const {
  std::vector<std::string> notes = place_notes(pairing_.seen(), world);
  notes.emplace_back(
      "count includes only faults that waited; faults that found their page in the swap cache, "
      "for example after readahead, are minor and not counted");
  if (!reads_probed_ && !stacks_.has_names()) {
    notes.emplace_back(
        pairing_.seen().page_allocs
            ? "the number of pages read is not known: the stacks of kmem:mm_page_alloc have no "
              "names of kernel functions (--user leaves the kernel part out)"
            : "the number of pages read is not known: the recording lacks kmem:mm_page_alloc");
  }
  if (!outs_seen_) {
    notes.emplace_back(
        "the number of pages swapped out is not known: the recording lacks "
        "vmscan:mm_vmscan_write_folio (before 5.18: mm_vmscan_writepage)");
  }
  return notes;
}

// The kernel does not read or write a page of zeros (6.12), nor one that zswap has.
void SwapIns::check_sums(const World& world, Report& report) const {
  VmstatCheck check(world);
  const SwapCost total = rows_.total();
  if (reads_probed_ || stacks_.has_names()) {
    check.add({.name = "pages",
               .counted = total.pages,
               .counters = {"pswpin", "swpin_zero", "zswpin"},
               .hint = "a page counts if the stack of its allocation shows that swap is read"});
  }
  if (outs_seen_) {
    check.add({.name = "out",
               .counted = total.out,
               .counters = {"pswpout", "swpout_zero", "zswpout"},
               .hint = "a large folio that was allocated before the recording counts as one page"});
  }
  check.add_to(report);
}

Report SwapIns::finish(const World& world, Span span) {
  pairing_.report_open();
  settle_pages(world);
  const SwapContext context{fault_context(pairing_.seen(), world, span),
                            reads_probed_ || stacks_.has_names(),
                            outs_seen_};
  Report report{.view = "swapin", .title = "swap-ins"};
  report.totals = totals(world);
  Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
  sort_by(table, "count");
  row_latency_.move_into(table, rows_.keys(), context);
  report.inconclusive = table.rows.empty();
  report.nothing_happened = pairing_.seen().ends && knows_places(world);
  report.caveats.notes = notes(world);
  check_sums(world, report);
  rows_.clear();
  return report;
}

bool handles(const EventType& type) {
  return is_of_faults(type) || is_write_event(type) || is_probed_read(type);
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<SwapIns>(FaultKeys::choose(options, kKeys), options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "swap-ins: who waits for swap, pages read with readahead, who swaps out",
    .needs = kNeeds,
    .keys = kKeys,
    .default_by = kDefaultBy,
    .options = kOptions,
    .needs_memory_map = true,
    .judges_kernel_stacks = true,
    .parts = kParts,
    .handles = handles,
    .rests_on = is_fault_event,
    .make = make,
};

}  // namespace memtrace::swapin_view
