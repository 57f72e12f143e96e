// heap: what the program's heap costs by stack: allocations, bytes at the peak, leaked, temporary.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "views/heap/caller_key.h"
#include "views/heap/heap_events.h"
#include "views/heap/kernel_memory.h"
#include "views/heap/peak_tracker.h"
#include "views/heap/sampled_series.h"
#include "views/kit/group_by.h"
#include "views/kit/histogram.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"

namespace memtrace::heap_view {
namespace {

struct HeapCost {
  std::uint64_t allocs = 0;
  std::uint64_t bytes = 0;  // allocated
  std::uint64_t temporary = 0;
  std::uint64_t leaked_bytes = 0;  // at the end
  std::uint64_t leaked_count = 0;
  PeakRow peak;
};

using HeapFigure = Figure<HeapCost>;

constexpr auto kFigures = std::to_array<HeapFigure>({
    figure<&HeapCost::allocs>("allocs"),
    figure<&HeapCost::bytes>("bytes", Unit::Bytes),
    figure<&HeapCost::peak, &PeakRow::peak_bytes>("peak", Unit::Bytes),
    figure<&HeapCost::leaked_bytes>("leaked", Unit::Bytes),
    figure<&HeapCost::leaked_count>("leaked_count"),
    figure<&HeapCost::temporary>("temporary"),
});

constexpr auto kKeys = std::to_array<std::string_view>(
    {"stack", "function", "caller", "comm", "pid", "tid", "size", "range"});
constexpr auto kOptions =
    std::to_array<ViewOption>({kMinBytesOption, kMaxBytesOption, kHistOption});
constexpr auto kNeeds =
    with_kernel_memory(std::to_array<std::string_view>({kHeapCalls, kHeapReturns, kHeapFrees}));

class Heap final : public View {
 public:
  Heap(KeySet keys, SizeLimits limits, const ViewOptions& options)
      : rows_(std::move(keys)),
        row_sizes_(options, rows_.keys().size(), "sizes", Unit::Bytes),
        limits_(limits),
        tasks_(options.tasks) {}

  void on(const Event& event, const World& world) override;
  Report finish(const World& world, Span span) override;

  Result<> check(const std::deque<EventType>& types) override {
    probed_ = HeapProbed(types);
    return kDone;
  }

 private:
  void on_mapping(const Event& event, const World::MappedChange& change);
  void allocate(const Event& event, const HeapAlloc& alloc);
  void free(const LiveBlock& block, const Event& event);
  void count_leaked(const World& world);
  std::vector<Total> totals(const HeapCost& total, Span span) const;

  GroupBy<HeapCost> rows_;
  AskedHistograms row_sizes_;
  SizeLimits limits_;
  TaskFilter tasks_;
  PeakTracker peak_;
  ValueHistogram sizes_;
  ValueHistogram lifetimes_;
  SampledSeries consumed_;
  std::unordered_map<std::uint32_t, std::uint64_t> last_alloc_;  // by tid: address
  HeapProbed probed_;
};

void Heap::on(const Event& event, const World& world) {
  if (const auto* change = world.mapped_change()) {
    on_mapping(event, *change);
    return;
  }
  // realloc: the old block goes before the new one comes, as the allocator has it.
  if (event.freed != nullptr && limits_.accept(event.freed->bytes) && !event.freed->is_inherited) {
    free(*event.freed, event);
  }
  const auto* alloc = std::get_if<HeapAlloc>(&event.payload);
  if (alloc != nullptr && alloc->address != 0 && limits_.accept(alloc->bytes)) {
    allocate(event, *alloc);
  }
  if (event.freed != nullptr || alloc != nullptr) {
    consumed_.add(event.time_ns, peak_.live_bytes());
  }
}

void Heap::on_mapping(const Event& event, const World::MappedChange& change) {
  for (const MappedBlocks::Piece& piece : change.gone) {
    const LiveBlock& block = piece.block;
    if (!limits_.accept(block.bytes_req) || block.is_inherited) {
      continue;
    }
    peak_.free(rows_.row(block).peak, block.weight * block.bytes, piece.is_last ? block.weight : 0);
    if (piece.is_last) {
      lifetimes_.add(event.time_ns - block.time_ns, block.weight);
    }
  }
  if (change.made && limits_.accept(change.made->bytes_req)) {
    const LiveBlock& made = *change.made;
    HeapCost& row = rows_.row(made);
    row.allocs += made.weight;
    row.bytes += made.weight * made.bytes;
    peak_.allocate(row.peak, made.weight * made.bytes, made.weight, event.time_ns);
    sizes_.add(made.bytes, made.weight);
    row_sizes_.add(rows_.keys(), made, made.bytes, made.weight);
    last_alloc_[made.tid] = made.key;
  }
  consumed_.add(event.time_ns, peak_.live_bytes());
}

void Heap::allocate(const Event& event, const HeapAlloc& alloc) {
  const std::uint64_t bytes = event.weight * alloc.bytes;
  HeapCost& row = rows_.row(event);
  row.allocs += event.weight;
  row.bytes += bytes;
  peak_.allocate(row.peak, bytes, event.weight, event.time_ns);
  sizes_.add(alloc.bytes, event.weight);
  row_sizes_.add(rows_.keys(), event, alloc.bytes, event.weight);
  last_alloc_[event.tid] = alloc.address;
}

// Temporary: nothing was allocated by that thread in between.
void Heap::free(const LiveBlock& block, const Event& event) {
  HeapCost& row = rows_.row(block);
  peak_.free(row.peak, block.weight * block.bytes, block.weight);
  const auto last = last_alloc_.find(event.tid);
  if (last != last_alloc_.end() && last->second == block.key && block.tid == event.tid) {
    row.temporary += block.weight;
  }
  lifetimes_.add(event.time_ns - block.time_ns, block.weight);
}

// As the leaks view does. What is live by the calls alone is more: execve(2) gives a heap back
// without a call, and a free that was lost shows when its address is allocated again.
void Heap::count_leaked(const World& world) {
  rows_.for_each([](HeapCost& cost) { cost.leaked_bytes = cost.leaked_count = 0; });
  const auto count = [&](const LiveBlock& block, std::uint64_t asked_bytes) {
    if (!block.is_inherited && limits_.accept(asked_bytes) && tasks_.accepts(world, block)) {
      HeapCost& row = rows_.row(block);
      row.leaked_bytes += block.weight * block.bytes;
      row.leaked_count += block.weight;
    }
  };
  world.heap().for_each([&](const LiveBlock& block) { count(block, block.bytes); });
  world.mapped().for_each([&](const LiveBlock& block) { count(block, block.bytes_req); });
}

std::vector<Total> Heap::totals(const HeapCost& total, Span span) const {
  const double seconds = static_cast<double>(span.end_ns - span.start_ns) / 1e9;
  const double rate = seconds > 0 ? static_cast<double>(total.allocs) / seconds : 0;
  return {{"allocs", Unit::Count, total.allocs},
          {"bytes", Unit::Bytes, total.bytes},
          {"peak", Unit::Bytes, peak_.peak_bytes()},
          {"peak_at_ns",
           Unit::Nanoseconds,
           peak_.peak_time_ns() > span.start_ns ? peak_.peak_time_ns() - span.start_ns : 0},
          {"leaked", Unit::Bytes, total.leaked_bytes},
          {"leaked_count", Unit::Count, total.leaked_count},
          {"temporary", Unit::Count, total.temporary},
          {"allocs_per_s", Unit::Count, static_cast<std::uint64_t>(rate)}};
}

Report Heap::finish(const World& world, Span span) {
  const CellContext context{.world = world, .span = span};
  rows_.for_each([this](HeapCost& cost) { peak_.catch_up(cost.peak); });
  count_leaked(world);
  Report report{.view = "heap", .title = "the heap by where it was allocated"};
  report.inconclusive = !probed_.returns;
  report.totals = totals(rows_.total(), span);
  Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
  sort_by(table, "peak");
  row_sizes_.move_into(table, rows_.keys(), context);
  if (rows_.total().allocs > 0) {
    report.histograms.push_back(sizes_.histogram("sizes", Unit::Bytes));
    report.histograms.push_back(lifetimes_.histogram("lifetimes", Unit::Nanoseconds));
    report.series.push_back(
        {.title = "consumed", .unit = Unit::Bytes, .points = consumed_.points()});
  }
  if (probed_.calls && !probed_.returns) {
    report.caveats.notes.emplace_back(
        "the returns of allocator functions were not recorded: record with --for heap");
  }
  add_kernel_memory(report, world, tasks_);
  return report;
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Heap>(choose_heap_keys(options, kKeys), parse_size_limits(options), options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "the heap by stack: allocations, peak usage, leaked and temporary blocks",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .report_of = ViewSpec::ReportOf::SinceBegin,
    .needs_live_blocks = true,
    .of_programs = true,
    .handles = is_heap_type,
    .make = make,
};

}  // namespace memtrace::heap_view
