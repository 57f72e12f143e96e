// leaks: blocks of user heaps that were allocated and are not freed.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "views/heap/heap_events.h"
#include "views/heap/kernel_memory.h"
#include "views/kit/group_by.h"
#include "views/kit/make_view.h"

namespace memtrace {
namespace {

constexpr std::size_t kMaxAddresses = 1000;

struct LeakCost {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sum_age_ns = 0;
  Largest oldest_ns;
};

constexpr auto kFigures = std::to_array<Figure<LeakCost>>({
    figure<&LeakCost::count>("count"),
    figure<&LeakCost::bytes>("bytes", Unit::Bytes),
    mean_figure<&LeakCost::sum_age_ns, &LeakCost::count>("avg_age_ns", Unit::Nanoseconds),
    figure<&LeakCost::oldest_ns, &Largest::value>("oldest_ns", Unit::Nanoseconds),
});

constexpr auto kKeys = std::to_array<std::string_view>(
    {"stack", "function", "caller", "comm", "pid", "tid", "size", "range"});
constexpr auto kAddressKeys = std::to_array<std::string_view>({"function", "comm", "pid", "stack"});
constexpr auto kOptions = std::to_array<ViewOption>({
    {"older", "SECONDS", "only blocks that are at least this old at the end"},
    kMinBytesOption,
    kMaxBytesOption,
    {"show-allocs", "", "list each block with its address, oldest first"},
    {"inherited", "", "also the copies of blocks that forked children inherited"},
});
constexpr auto kNeeds =
    with_kernel_memory(std::to_array<std::string_view>({kHeapCalls, kHeapReturns, kHeapFrees}));

struct LeakOptions {
  std::uint64_t older_ns = 0;
  SizeLimits sizes;
  bool show_allocs = false;
  bool inherited = false;
  TaskFilter tasks;
};

class HeapLeaks final : public View {
 public:
  HeapLeaks(KeySet keys, KeySet address_keys, LeakOptions options)
      : rows_(std::move(keys)),
        address_keys_(std::move(address_keys)),
        options_(std::move(options)) {}

  // What is outstanding is the world's to know.
  void on(const Event& /*event*/, const World& /*world*/) override {}

  Report finish(const World& world, Span span) override;

  Result<> check(const std::deque<EventType>& types) override {
    probed_ = HeapProbed(types);
    return kDone;
  }

 private:
  struct Outstanding {
    std::vector<const LiveBlock*> blocks;
    LeakCost inherited;
  };

  Outstanding outstanding(const World& world, Span span) const;
  Table address_table(std::vector<const LiveBlock*> blocks, const CellContext& context) const;
  std::vector<std::string> notes(const LeakCost& inherited) const;

  GroupBy<LeakCost> rows_;
  KeySet address_keys_;
  LeakOptions options_;
  HeapProbed probed_;
};

std::uint64_t age_ns(const LiveBlock& block, View::Span span) {
  return span.end_ns > block.time_ns ? span.end_ns - block.time_ns : 0;
}

HeapLeaks::Outstanding HeapLeaks::outstanding(const World& world, Span span) const {
  Outstanding found;
  const auto look_at = [&](const LiveBlock& block) {
    if (age_ns(block, span) < options_.older_ns || !options_.sizes.accept(block.bytes) ||
        !options_.tasks.accepts(world, block)) {
      return;
    }
    if (block.is_inherited && !options_.inherited) {
      found.inherited += {block.weight, block.weight * block.bytes};
      return;
    }
    found.blocks.push_back(&block);
  };
  world.heap().for_each(look_at);
  world.mapped().for_each(look_at);
  return found;
}

Table HeapLeaks::address_table(std::vector<const LiveBlock*> blocks,
                               const CellContext& context) const {
  const std::size_t count = std::min(blocks.size(), kMaxAddresses);
  const auto older = [](const LiveBlock* left, const LiveBlock* right) {
    return std::pair(left->time_ns, left->key) < std::pair(right->time_ns, right->key);
  };
  std::partial_sort(blocks.begin(),
                    std::next(blocks.begin(), static_cast<std::ptrdiff_t>(count)),
                    blocks.end(),
                    older);
  Table table{.title = "outstanding blocks, oldest first", .fixed = true};
  table.columns = {{"address", Unit::Address}};
  std::ranges::move(address_keys_.columns(), std::back_inserter(table.columns));
  table.key_count = table.columns.size();
  table.columns.push_back({"bytes", Unit::Bytes});
  table.columns.push_back({"age_ns", Unit::Nanoseconds});
  for (const LiveBlock* block : std::span(blocks).first(count)) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(block->key);
    std::ranges::move(address_keys_.cells(address_keys_.of(*block), context),
                      std::back_inserter(row));
    row.emplace_back(block->bytes);
    row.emplace_back(age_ns(*block, context.span));
  }
  if (blocks.size() > count) {
    table.note = format("%zu younger blocks are not listed", blocks.size() - count);
  }
  return table;
}

std::vector<std::string> HeapLeaks::notes(const LeakCost& inherited) const {
  std::vector<std::string> notes;
  if (probed_.calls && !probed_.returns) {
    notes.emplace_back(
        "the returns of allocator functions were not recorded, so no block is known: record with "
        "--for leaks");
  }
  if (probed_.returns && !probed_.frees) {
    notes.emplace_back("the recording has no frees: all blocks count as outstanding");
  }
  if (inherited.count > 0) {
    notes.push_back(counted(inherited.count, "more block of ", "more blocks of ") +
                    counted(inherited.bytes, "byte", "bytes") +
                    (inherited.count == 1
                         ? " is a copy of its parent's block in a forked child"
                         : " are copies of their parents' blocks in forked children") +
                    "; --inherited shows them");
  }
  return notes;
}

Report HeapLeaks::finish(const World& world, Span span) {
  const CellContext context{.world = world, .span = span};
  Outstanding found = outstanding(world, span);
  for (const LiveBlock* block : found.blocks) {
    const std::uint64_t block_age_ns = age_ns(*block, span);
    rows_.row(*block) +=
        {block->weight, block->weight * block->bytes, block->weight * block_age_ns, {block_age_ns}};
  }
  Report report;
  report.view = "leaks";
  report.title = "heap memory allocated and not freed";
  report.inconclusive = !probed_.returns || !probed_.frees;
  const LeakCost total = rows_.total();
  report.totals = {{"count", Unit::Count, total.count}, {"bytes", Unit::Bytes, total.bytes}};
  Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
  table.sort = "bytes";
  table.weight = "bytes";
  report.caveats.notes = notes(found.inherited);
  if (options_.show_allocs) {
    report.tables.push_back(address_table(std::move(found.blocks), context));
  }
  add_kernel_memory(report, world, options_.tasks);
  rows_.clear();
  return report;
}

Result<LeakOptions> parse_options(const ViewOptions& options) {
  auto sizes = parse_size_limits(options);
  auto older_ns = parse_age_ns(options);
  if (!sizes.ok() || !older_ns.ok()) {
    return sizes.ok() ? older_ns.take_error() : sizes.take_error();
  }
  return LeakOptions{.older_ns = older_ns.value(),
                     .sizes = sizes.value(),
                     .show_allocs = options.own.contains("show-allocs"),
                     .inherited = options.own.contains("inherited"),
                     .tasks = options.tasks};
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  ViewOptions by_address;
  by_address.by.assign(kAddressKeys.begin(), kAddressKeys.end());
  return make_view<HeapLeaks>(
      KeySet::choose(options, kKeys), KeySet::choose(by_address, kKeys), parse_options(options));
}

}  // namespace

extern const ViewSpec view_leaks;
constinit const ViewSpec view_leaks{
    .summary = "heap memory that was allocated and not freed: by stack, count, bytes and age",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .needs_live_blocks = true,
    .of_programs = true,
    .handles = is_heap_type,
    .make = make,
};

}  // namespace memtrace
