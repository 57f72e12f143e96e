// malloc: which calls ask the allocator for memory, how often, and for how much.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "views/group_by.h"
#include "views/histogram.h"
#include "views/shared_heap.h"
#include "views/shared_needs.h"

namespace memtrace {
namespace {

struct MallocCost {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t max_bytes = 0;

  MallocCost& operator+=(const MallocCost& other) {
    count += other.count;
    bytes += other.bytes;
    max_bytes = std::max(max_bytes, other.max_bytes);
    return *this;
  }
};

constexpr auto kFigures = std::to_array<Figure<MallocCost>>({
    {"count", Unit::Count, [](const MallocCost& c, const CellContext&) { return Cell(c.count); }},
    {"bytes", Unit::Bytes, [](const MallocCost& c, const CellContext&) { return Cell(c.bytes); }},
    {"avg_bytes",
     Unit::Bytes,
     [](const MallocCost& c, const CellContext&) { return Cell(c.bytes / c.count); }},
    {"max_bytes",
     Unit::Bytes,
     [](const MallocCost& c, const CellContext&) { return Cell(c.max_bytes); }},
});

constexpr auto kKeys = std::to_array<std::string_view>(
    {"stack", "function", "caller", "comm", "pid", "tid", "size", "range", "cpu"});
constexpr auto kOptions = std::to_array<ViewOption>({
    kMinBytesOption,
    kMaxBytesOption,
    {"linear", "BYTES", "show sizes in steps of BYTES instead of powers of two"},
});
constexpr auto kNeeds = joined(std::array{kHeapCalls}, kMappingCallNeeds);

// Nothing for frees, and for returns of calls that were counted when they began.
std::optional<std::uint64_t> asked_bytes(const Event& event) {
  if (const auto* call = std::get_if<HeapCall>(&event.payload)) {
    return call->op == HeapOp::Free ? std::nullopt : std::optional(call->bytes);
  }
  const auto* alloc = std::get_if<HeapAlloc>(&event.payload);
  return alloc == nullptr || alloc->has_call ? std::nullopt : std::optional(alloc->bytes);
}

class Malloc final : public View {
 public:
  Malloc(KeySet keys, SizeLimits limits, std::uint64_t step)
      : rows_(std::move(keys)), limits_(limits), sizes_(step) {}

  void on(const Event& event, const World& world) override {
    if (const auto* change = world.mapped_change()) {
      count_mapping(*change);
      return;
    }
    const auto bytes = asked_bytes(event);
    if (!bytes || !limits_.accept(*bytes)) {
      return;
    }
    rows_.row(event) += {event.weight, event.weight * *bytes, *bytes};
    sizes_.add(*bytes, event.weight);
  }

  Report finish(const World& world, Span span) override {
    const CellContext context{.world = world, .span = span};
    Report report;
    report.view = "malloc";
    report.title = "calls of allocator functions";
    const MallocCost total = rows_.total();
    report.totals = {{"count", Unit::Count, total.count}, {"bytes", Unit::Bytes, total.bytes}};
    Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
    table.sort = "bytes";
    table.weight = "bytes";
    if (total.count > 0) {
      report.histograms.push_back(sizes_.histogram("sizes asked for", Unit::Bytes));
    }
    rows_.clear();
    sizes_.clear();
    return report;
  }

 private:
  void count_mapping(const World::MappedChange& change) {
    if (change.made && limits_.accept(change.made->bytes_req)) {
      const LiveBlock& made = *change.made;
      rows_.row(made) += {made.weight, made.weight * made.bytes_req, made.bytes_req};
      sizes_.add(made.bytes_req, made.weight);
    }
  }

  GroupBy<MallocCost> rows_;
  SizeLimits limits_;
  ValueHistogram sizes_;
};

bool handles(const EventType& type) {
  return is_heap_type(type);
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  auto keys = KeySet::choose(options, kKeys);
  if (!keys.ok()) {
    return keys.take_error();
  }
  auto limits = parse_size_limits(options);
  auto step = parse_bytes_option(options, "linear", 0);
  if (!limits.ok() || !step.ok()) {
    return limits.ok() ? step.take_error() : limits.take_error();
  }
  return std::unique_ptr<View>(std::make_unique<Malloc>(keys.take(), limits.value(), step.value()));
}

}  // namespace

extern const ViewSpec view_malloc;
constinit const ViewSpec view_malloc{
    .summary = "calls of malloc and its like: by stack, function and size",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .of_programs = true,
    .handles = handles,
    .make = make,
};

}  // namespace memtrace
