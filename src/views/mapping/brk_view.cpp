// brk: who makes the heap grow and shrink, by how many bytes; calls that only ask count separately.
#include <array>
#include <unordered_map>
#include <utility>

#include "base/units.h"
#include "state/mapping/refused_memory.h"
#include "views/kit/cells.h"
#include "views/kit/group_by.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"
#include "views/mapping/call_trace.h"

namespace memtrace::brk_view {
namespace {

constexpr auto kNeeds =
    std::to_array<std::string_view>({"syscalls:sys_enter_brk", "syscalls:sys_exit_brk"});
constexpr auto kKeys = std::to_array<std::string_view>({"stack", "comm", "pid", "tid", "cpu"});
constexpr auto kOptions = std::to_array<ViewOption>({kTraceOption, kHistOption});

struct BrkCost {
  std::uint64_t grows = 0;
  std::uint64_t grown_bytes = 0;
  std::uint64_t shrinks = 0;
  std::uint64_t shrunk_bytes = 0;
  std::uint64_t failed = 0;
  std::uint64_t queries = 0;

  std::int64_t net_bytes() const { return static_cast<std::int64_t>(grown_bytes - shrunk_bytes); }
};

constexpr auto kFigures = std::to_array<Figure<BrkCost>>({
    figure<&BrkCost::grows>("grows"),
    figure<&BrkCost::grown_bytes>("grown", Unit::Bytes),
    figure<&BrkCost::shrinks>("shrinks"),
    figure<&BrkCost::shrunk_bytes>("shrunk", Unit::Bytes),
    figure<&BrkCost::net_bytes>("net", Unit::Bytes),
    figure<&BrkCost::failed>("failed"),
    figure<&BrkCost::queries>("queries"),
});

class BrkView final : public View {
 public:
  BrkView(KeySet keys, const ViewOptions& options)
      : rows_(std::move(keys)),
        row_sizes_(options, rows_.keys().size(), "growth", Unit::Bytes),
        has_trace_(options.wants_lines()),
        has_stacks_(options.asks_for("stack")) {}

  void on(const Event& event, const World& world) override;
  Report finish(const World& world, Span span) override;
  Table take_lines(const World& world, Span span, Namer& namer) override;

 private:
  struct Change {
    bool is_query = false;
    bool failed = false;
    std::uint64_t grown_bytes = 0;
    std::uint64_t shrunk_bytes = 0;

    std::int64_t net_bytes() const { return static_cast<std::int64_t>(grown_bytes - shrunk_bytes); }
  };

  struct Step : CallStep {
    Change change;

    std::uint64_t top() const { return static_cast<std::uint64_t>(done.result); }
  };

  static Change change_of(const SystemCallDone& done, std::uint64_t old_top);

  GroupBy<BrkCost> rows_;
  AskedHistograms row_sizes_;  // of calls that grow the heap
  bool has_trace_ = false;
  bool has_stacks_ = false;                                // of the lines
  std::unordered_map<std::uint32_t, std::uint64_t> tops_;  // before the call, by tid
  std::uint64_t unknown_tops_ = 0;                         // of this interval
  EventList<Step> trace_;
};

// brk(2) as the kernel has it returns the top: the old one when it was only asked for (brk(0)) or
// when it could not be moved.
BrkView::Change BrkView::change_of(const SystemCallDone& done, std::uint64_t old_top) {
  const auto top = static_cast<std::uint64_t>(done.result);
  Change change{.is_query = done.arguments[0] == 0, .failed = was_refused_memory(done)};
  if (old_top == 0 || change.is_query || change.failed) {
    return change;
  }
  change.grown_bytes = top > old_top ? top - old_top : 0;
  change.shrunk_bytes = top < old_top ? old_top - top : 0;
  return change;
}

void BrkView::on(const Event& event, const World& world) {
  if (std::holds_alternative<SystemCallEntry>(event.payload)) {
    tops_[event.tid] = world.memory_maps().heap_top(event.pid);
    return;
  }
  const auto* done = std::get_if<SystemCallDone>(&event.payload);
  if (done == nullptr) {
    return;
  }
  const auto known = tops_.find(event.tid);
  const std::uint64_t old_top = known == tops_.end() ? 0 : known->second;
  const Change change = change_of(*done, old_top);
  const bool is_unknown = old_top == 0 && !change.is_query && !change.failed;
  unknown_tops_ += is_unknown ? 1U : 0U;
  BrkCost& cost = rows_.row(event);
  cost.queries += change.is_query ? event.weight : 0;
  cost.failed += change.failed ? event.weight : 0;
  cost.grows += change.grown_bytes != 0 ? event.weight : 0;
  cost.grown_bytes += event.weight * change.grown_bytes;
  if (change.grown_bytes != 0) {
    row_sizes_.add(rows_.keys(), event, change.grown_bytes, event.weight);
  }
  cost.shrinks += change.shrunk_bytes != 0 ? event.weight : 0;
  cost.shrunk_bytes += event.weight * change.shrunk_bytes;
  if (has_trace_) {
    trace_.add({call_step(event, *done), change});
  }
}

Table BrkView::take_lines(const World& world, Span span, Namer& /*namer*/) {
  const auto asked = [](const Step& step, const CellContext&) {
    return when(!step.change.is_query, step.done.arguments[0]);
  };
  const ListColumns<Step> own = {{"asked", Unit::Address, asked},
                                 figure<&Step::top>("top", Unit::Address),
                                 figure<&Step::change, &Change::net_bytes>("grown", Unit::Bytes),
                                 {"took_ns", Unit::Nanoseconds, duration_cell}};
  return trace_.take(call_columns(own, has_stacks_), CellContext{.world = world, .span = span});
}

Report BrkView::finish(const World& world, Span span) {
  const CellContext context{.world = world, .span = span};
  const BrkCost total = rows_.total();
  Report report{.view = "brk", .title = "the heap's growth by brk"};
  report.inconclusive = !world.memory_maps().has_data();
  report.totals = {{"grows", Unit::Count, total.grows},
                   {"grown", Unit::Bytes, total.grown_bytes},
                   {"shrinks", Unit::Count, total.shrinks},
                   {"shrunk", Unit::Bytes, total.shrunk_bytes},
                   {"failed", Unit::Count, total.failed},
                   {"queries", Unit::Count, total.queries}};
  Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
  sort_by(table, "grown");
  row_sizes_.move_into(table, rows_.keys(), context);
  if (unknown_tops_ > 0) {
    report.caveats.notes.push_back(
        counted(unknown_tops_, "call", "calls") +
        " moved the end of the heap by an unknown amount: each was the first call seen of its "
        "process, and the recording does not have that heap's earlier end");
  }
  rows_.clear();
  unknown_tops_ = 0;
  return report;
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<BrkView>(KeySet::choose(options, kKeys), options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "growth and shrinking of the heap by brk: by stack and process, in bytes",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .needs_memory_map = true,
    .needs_call_stacks = true,
    .make = make,
};

}  // namespace memtrace::brk_view
