// malloc: which calls ask the allocator for memory, how often, and for how much.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "views/heap/caller_key.h"
#include "views/heap/heap_events.h"
#include "views/heap/malloc_lines.h"
#include "views/kit/cells.h"
#include "views/kit/group_by.h"
#include "views/kit/histogram.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"
#include "views/kit/mapping_call_needs.h"

namespace memtrace::malloc_view {
namespace {

struct MallocCost {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  Largest max_bytes;
  std::uint64_t failed = 0;  // of count; they have no bytes

  std::uint64_t succeeded() const { return count - failed; }
};

constexpr auto kFigures = std::to_array<Figure<MallocCost>>({
    figure<&MallocCost::count>("count"),
    figure<&MallocCost::bytes>("bytes", Unit::Bytes),
    mean_figure<&MallocCost::bytes, &MallocCost::succeeded>("avg_bytes", Unit::Bytes),
    figure<&MallocCost::max_bytes, &Largest::value>("max_bytes", Unit::Bytes),
    figure<&MallocCost::failed>("failed"),
});

constexpr auto kKeys = std::to_array<std::string_view>(
    {"stack", "function", "caller", "comm", "pid", "tid", "size", "range", "cpu"});
constexpr auto kOptions = std::to_array<ViewOption>({
    kMinBytesOption,
    kMaxBytesOption,
    {"trace", "", "print a line for each call as it ends, in place of the report"},
    kHistOption,
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

std::uint64_t address_of(const Event& event) {
  const auto* alloc = std::get_if<HeapAlloc>(&event.payload);
  return alloc == nullptr ? 0 : alloc->address;
}

// More than any process has addresses for: 47 bits on x86-64, 48 on arm64, and more only for who
// asks mmap(2) for an address there. What was to be a negative number is among it.
constexpr std::uint64_t kImpossibleBytes = std::uint64_t{1} << 48U;

class Malloc final : public View {
 public:
  Malloc(KeySet keys, SizeLimits limits, std::uint64_t step, const ViewOptions& options)
      : rows_(std::move(keys)),
        limits_(limits),
        sizes_(step),
        has_trace_(options.wants_lines()),
        has_stacks_(options.asks_for("stack")) {
    if (options.own.contains(std::string(kHistOption.name))) {
      row_sizes_.emplace(rows_.keys().size());
    }
  }

  Result<> check(const std::deque<EventType>& types) override {
    has_returns_ = HeapProbed(types).returns;
    return kDone;
  }

  void on(const Event& event, const World& world) override {
    if (const auto* change = world.mapped_change()) {
      count_mapping(*change);
      return;
    }
    end_call(event);
    list_free(event);
    const auto bytes = asked_bytes(event);
    if (!bytes || !limits_.accept(*bytes)) {
      return;
    }
    if (has_returns_ && std::holds_alternative<HeapCall>(event.payload)) {
      pending_.insert_or_assign(event.tid, Pending{event, *bytes});
    } else {
      count(event, *bytes, *bytes < kImpossibleBytes, address_of(event));
    }
  }

  Table take_lines(const World& world, Span span, Namer& /*namer*/) override {
    return malloc_lines(lines_, {.world = world, .span = span}, has_stacks_);
  }

  Report finish(const World& world, Span span) override {
    for (const auto& [tid, call] : std::exchange(pending_, {})) {
      count(call.event, call.bytes, call.bytes < kImpossibleBytes, 0);
    }
    const CellContext context{.world = world, .span = span};
    Report report{.view = "malloc", .title = "calls of allocator functions"};
    const MallocCost total = rows_.total();
    report.totals = {{"count", Unit::Count, total.count}, {"bytes", Unit::Bytes, total.bytes}};
    std::span<const Figure<MallocCost>> figures(kFigures);
    if (total.failed > 0) {
      report.totals.push_back({"failed", Unit::Count, total.failed});
    } else {
      figures = figures.first(figures.size() - 1);
    }
    Table& table = report.tables.emplace_back(std::move(rows_).take_table(figures, context));
    sort_by(table, "bytes");
    if (total.count > 0) {
      report.histograms.push_back(sizes_.histogram("sizes asked for", Unit::Bytes));
    }
    if (row_sizes_) {
      row_sizes_->move_into(
          table, {.title = "sizes asked for", .unit = Unit::Bytes}, rows_.keys(), context);
    }
    rows_.clear();
    sizes_.clear();
    return report;
  }

 private:
  // A call whose return will show whether it failed. What its event borrows is not looked at.
  struct Pending {
    Event event;
    std::uint64_t bytes = 0;
  };

  template <typename Subject>
  void add_size(const Subject& subject, std::uint64_t bytes, std::uint64_t weight) {
    sizes_.add(bytes, weight);
    if (row_sizes_) {
      row_sizes_->add(rows_.keys().of(subject), bytes, weight);
    }
  }

  // Of a block that is known; the call of free(3) itself says no size.
  void list_free(const Event& event) {
    const auto* call = std::get_if<HeapCall>(&event.payload);
    if (!has_trace_ || call == nullptr || call->op != HeapOp::Free || call->address == 0) {
      return;
    }
    MallocLine line = malloc_line(event);
    line.is_free = true;
    line.address = call->address;
    line.bytes = event.freed == nullptr ? 0 : event.freed->bytes_req;
    if (limits_.accept(line.bytes)) {
      lines_.add(line);
    }
  }

  void list(const Event& event, std::uint64_t bytes, bool succeeded, std::uint64_t address) {
    MallocLine line = malloc_line(event);
    line.bytes = bytes;
    line.failed = !succeeded;
    line.address = address;
    lines_.add(line);
  }

  // `address`: 0 where it is not known.
  void count(const Event& event, std::uint64_t bytes, bool succeeded, std::uint64_t address) {
    if (has_trace_) {
      list(event, bytes, succeeded, address);
    }
    MallocCost cost{.count = event.weight};
    if (succeeded) {
      cost.bytes = event.weight * bytes;
      cost.max_bytes = {bytes};
      add_size(event, bytes, event.weight);
    } else {
      cost.failed = event.weight;
    }
    rows_.row(event) += cost;
  }

  // By its return, or by the next call of its thread when its return was not seen.
  void end_call(const Event& event) {
    const auto call = pending_.find(event.tid);
    if (call == pending_.end()) {
      return;
    }
    const auto* failed = std::get_if<HeapReturn>(&event.payload);
    const auto* alloc = std::get_if<HeapAlloc>(&event.payload);
    const bool is_return = failed != nullptr || (alloc != nullptr && alloc->has_call);
    if (is_return ? event.function != call->second.event.function
                  : !std::holds_alternative<HeapCall>(event.payload)) {
      return;
    }
    // malloc(0) and realloc(p, 0) may return null.
    const std::uint64_t address = !is_return          ? 0
                                  : failed != nullptr ? failed->address
                                                      : alloc->address;
    const bool is_null = is_return && address == 0;
    const Pending ended = call->second;
    pending_.erase(call);
    count(ended.event,
          ended.bytes,
          is_null ? ended.bytes == 0 : is_return || ended.bytes < kImpossibleBytes,
          address);
  }

  void count_mapping(const World::MappedChange& change) {
    if (change.made && limits_.accept(change.made->bytes_req)) {
      const LiveBlock& made = *change.made;
      rows_.row(made) += {made.weight, made.weight * made.bytes_req, {made.bytes_req}};
      add_size(made, made.bytes_req, made.weight);
    }
  }

  GroupBy<MallocCost> rows_;
  SizeLimits limits_;
  ValueHistogram sizes_;
  std::optional<KeyedHistograms> row_sizes_;
  bool has_returns_ = false;
  bool has_trace_ = false;
  bool has_stacks_ = false;  // of the lines
  EventList<MallocLine> lines_;
  std::unordered_map<std::uint32_t, Pending> pending_;  // by tid
};

bool handles(const EventType& type) {
  return is_heap_type(type);
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Malloc>(choose_heap_keys(options, kKeys),
                           parse_size_limits(options),
                           parse_bytes_option(options, "linear", 0),
                           options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "calls of malloc and similar functions: by stack, function and size",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .of_programs = true,
    .lines_as = "leaks",  // addresses, which returns show, and frees
    .handles = handles,
    .make = make,
};

}  // namespace memtrace::malloc_view
