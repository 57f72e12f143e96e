// ledger: the resident size of each process at the start and at the end, and each change between.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "views/fault/fault_needs.h"
#include "views/kit/keys.h"
#include "views/kit/make_view.h"
#include "views/resident/ledger_tables.h"

namespace memtrace::ledger_view {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>({"process", "mapping"});
constexpr std::string_view kRssEvent = "kmem:rss_stat";
constexpr auto kNeeds = std::to_array<std::string_view>({"exceptions:page_fault_user|page-faults",
                                                         "exceptions:page_fault_kernel|",
                                                         "minor-faults",
                                                         "major-faults",
                                                         "kmem:mm_page_alloc|",
                                                         "kmem:rss_stat|",
                                                         "syscalls:sys_enter_madvise|",
                                                         "syscalls:sys_exit_madvise|"});
// Nothing is shown by stack. Of page allocations only those of large folios.
constexpr auto kParts = std::to_array<EventNarrowing>({
    {.event = "exceptions:page_fault_user", .stacks = EventNarrowing::Stacks::None},
    {.event = "exceptions:page_fault_kernel", .stacks = EventNarrowing::Stacks::None},
    {.event = "page-faults", .stacks = EventNarrowing::Stacks::None},
    {.event = "minor-faults", .stacks = EventNarrowing::Stacks::None},
    {.event = "major-faults", .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:mm_page_alloc", .filter = kFolioFilter, .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:mm_page_alloc",
     .filter = kHugePageFilter,
     .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:rss_stat", .stacks = EventNarrowing::Stacks::None},
});

bool is_call(const EventType& type) {
  return type.name.starts_with("syscalls:sys_e") || type.name.starts_with("raw_syscalls:");
}

class LedgerView final : public View {
 public:
  LedgerView(LedgerKeys keys, TaskFilter tasks) : keys_(keys), tasks_(std::move(tasks)) {}

  Result<> check(const std::deque<EventType>& types) override;

  void on(const Event& event, const World& world) override {
    if (has_rss_) {
      ledger_.on(event, world);
    }
    heap_.on(event);
    is_sampled_ = is_sampled_ || event.weight > 1;
  }

  Report finish(const World& world, Span span) override;

 private:
  void note_residuals(const std::vector<LedgerProcess>& processes,
                      std::vector<std::string>& notes) const;
  void add_notes(const std::vector<LedgerProcess>& processes,
                 std::vector<std::string>& notes) const;

  static void note_gap(const std::vector<LedgerProcess>& processes,
                       std::uint64_t end_ns,
                       std::vector<std::string>& notes);

  LedgerKeys keys_;
  TaskFilter tasks_;
  RssLedger ledger_;
  HeapSizes heap_;
  LedgerProcesses processes_;
  bool has_rss_ = false;
  bool has_calls_ = false;
  bool has_access_ = false;
  bool is_sampled_ = false;
};

Result<> LedgerView::check(const std::deque<EventType>& types) {
  for (const EventType& type : types) {
    has_rss_ = has_rss_ || type.name == kRssEvent;
    has_calls_ = has_calls_ || is_call(type);
    has_access_ = has_access_ || type.name.starts_with("exceptions:page_fault");
  }
  ledger_.check(has_calls_);
  return kDone;
}

Report LedgerView::finish(const World& world, Span span) {
  std::vector<LedgerProcess> processes =
      processes_.take(world, has_rss_ ? &ledger_ : nullptr, span.end_ns);
  std::erase_if(processes, [&](const LedgerProcess& process) {
    return !tasks_.accepts_process(world, process.pid);
  });
  Report report{.view = "ledger", .title = "resident size, and each change of it"};
  RssSums all;
  for (const LedgerProcess& process : processes) {
    all += process.sums;
  }
  const auto total = [&all](RssSide side) {
    return static_cast<std::uint64_t>(std::max(all.on_side(side), std::int64_t{0}));
  };
  report.totals = {{"added", Unit::Bytes, total(RssSide::Added)},
                   {"freed", Unit::Bytes, total(RssSide::Freed)},
                   {"taken", Unit::Bytes, total(RssSide::Taken)}};
  report.tables.push_back(ledger_table(processes, keys_, has_rss_));
  if (!processes.empty()) {
    report.tables.push_back(changes_table(processes, keys_, has_rss_));
    Table beside = beside_table(processes, heap_);
    if (!beside.rows.empty()) {
      report.tables.push_back(std::move(beside));
    }
  }
  add_notes(processes, report.caveats.notes);
  note_gap(processes, span.end_ns, report.caveats.notes);
  ledger_.begin_interval();
  return report;
}

// Why a residual is not known, or is not of the changes alone.
void LedgerView::note_residuals(const std::vector<LedgerProcess>& processes,
                                std::vector<std::string>& notes) const {
  const auto unread = static_cast<std::uint64_t>(std::ranges::count_if(
      processes, [](const LedgerProcess& process) { return !process.begin || !process.end; }));
  std::int64_t while_read = 0;
  for (const LedgerProcess& process : processes) {
    while_read += std::abs(process.while_read);
  }
  if (unread > 0) {
    notes.push_back(fmt::format("the residual of {} is not known: /proc/PID/smaps was not read",
                                counted(unread, "process", "processes")));
  }
  const auto unseen =
      static_cast<std::uint64_t>(std::ranges::count_if(processes, [](const LedgerProcess& process) {
        return process.begin && process.is_ended && !process.is_end_seen;
      }));
  if (unseen > 0) {
    notes.push_back(fmt::format(
        "the residual of {} that ended is not known: no event shows how much memory was given back "
        "then{}",
        counted(unseen, "process", "processes"),
        has_rss_ ? "; record the whole machine (-a) to see it" : ""));
  }
  if (while_read > 0) {
    notes.push_back(print_bytes(static_cast<std::uint64_t>(while_read)) +
                    " changed while /proc was read at the start: the residual may have them");
  }
}

void LedgerView::add_notes(const std::vector<LedgerProcess>& processes,
                           std::vector<std::string>& notes) const {
  note_residuals(processes, notes);
  if (!has_rss_) {
    notes.emplace_back(
        "the recording lacks kmem:rss_stat (Linux 5.5): the peak is not known, copies, swap-ins "
        "and "
        "huge pages count as first touches, and what the kernel took is known by difference");
  }
  if (has_rss_ && ledger_.is_batched()) {
    notes.emplace_back(
        "this kernel counts 64 faults of a thread together (before Linux 6.2): the line of a "
        "change is that of the last of them, and up to 64 pages of each thread that still runs are "
        "in the residual");
  }
  if (heap_.any()) {
    notes.emplace_back(
        "heap_live is of blocks that were allocated while recording; heap_free is the resident "
        "memory without a file less heap_live: free memory of the allocator, stacks of threads, "
        "and "
        "what was allocated before or without it");
  }
  if (!has_calls_) {
    notes.emplace_back(
        "the recording lacks the system calls that give memory back: what they took away counts as "
        "unmapped or reclaimed alike");
  }
  if (!has_access_) {
    notes.emplace_back(
        "a page that was only read counts as touched: only exceptions:page_fault_user reports "
        "whether memory was read or written");
  }
  if (is_sampled_) {
    notes.emplace_back("only one in N faults was sampled: lines are estimates, sums are not");
  }
}

// /proc is read after the last event. Where the clocks differ, nothing is said.
void LedgerView::note_gap(const std::vector<LedgerProcess>& processes,
                          std::uint64_t end_ns,
                          std::vector<std::string>& notes) {
  constexpr std::uint64_t kMostNs = 60'000'000'000;
  std::uint64_t gap_ns = 0;
  for (const LedgerProcess& process : processes) {
    const bool is_later = process.last && process.last->read_to_ns > end_ns &&
                          process.last->read_to_ns - end_ns < kMostNs;
    if (is_later && process.sums.total() != 0) {
      gap_ns = std::max(gap_ns, process.last->read_to_ns - end_ns);
    }
  }
  if (gap_ns >= 1'000'000) {
    notes.push_back(
        fmt::format("/proc was read up to {} ms after the last event: the residual has the changes "
                    "of that time",
                    gap_ns / 1'000'000));
  }
}

bool handles(const EventType& type) {
  return is_fault_event(type) || type.name == "kmem:mm_page_alloc" || type.name == kRssEvent ||
         is_call(type) || !type.heap_function.empty();
}

bool rests_on(const EventType& type) {
  return is_fault_event(type) || type.name == kRssEvent;
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  LedgerKeys keys{.process = options.by.empty()};
  for (const std::string& key : options.by) {
    if (std::ranges::find(kKeys, key) == kKeys.end()) {
      return unknown_key(key, kKeys);
    }
    keys.process = keys.process || key == "process";
    keys.mapping = keys.mapping || key == "mapping";
  }
  return make_view<LedgerView>(keys, options.tasks);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "resident size of processes, and each change of it with its reason",
    .needs = kNeeds,
    .keys = kKeys,
    .options = {},
    .needs_memory_map = true,
    .needs_resident_pages = true,
    .looks_at_stack_keys_only = true,
    .parts = kParts,
    .handles = handles,
    .rests_on = rests_on,
    .make = make,
};

}  // namespace memtrace::ledger_view
