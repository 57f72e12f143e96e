// calls: how often functions are called: those probed with -e, and allocators'.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "views/heap/caller_key.h"
#include "views/heap/heap_events.h"
#include "views/kit/group_by.h"
#include "views/kit/make_view.h"

namespace memtrace::calls_view {
namespace {

struct CallCost {
  std::uint64_t count = 0;
};

constexpr auto kFigures = std::to_array<Figure<CallCost>>({
    figure<&CallCost::count>("count"),
    rate_figure<&CallCost::count>("rate"),
});

constexpr auto kKeys =
    std::to_array<std::string_view>({"function", "stack", "caller", "comm", "pid", "tid", "cpu"});
constexpr auto kNeeds = std::to_array<std::string_view>({kHeapCalls, kHeapFrees});

// The call is counted when it begins, and at its end only where nothing else was probed. What the
// world takes from an allocator's event without a payload left is the same call again.
bool is_call(const Event& event) {
  const auto* alloc = std::get_if<HeapAlloc>(&event.payload);
  if (alloc != nullptr) {
    return !alloc->has_call;
  }
  const bool is_again =
      std::holds_alternative<std::monostate>(event.payload) && !event.type->heap_function.empty();
  return !is_again && !std::holds_alternative<HeapReturn>(event.payload);
}

class Calls final : public View {
 public:
  explicit Calls(KeySet keys) : rows_(std::move(keys)) {}

  Result<> check(const std::deque<EventType>& types) override {
    functions_ = static_cast<std::uint64_t>(std::ranges::count_if(types, is_entry));
    return kDone;
  }

  void on(const Event& event, const World& /*world*/) override {
    if (is_call(event)) {
      rows_.row(event) += {event.weight};
    }
  }

  Report finish(const World& world, Span span) override {
    const CellContext context{.world = world, .span = span};
    Report report{.view = "calls", .title = "calls of functions"};
    report.totals = {{"count", Unit::Count, rows_.total().count},
                     {"probed", Unit::Count, functions_}};
    sort_by(report.tables.emplace_back(rows_.table(kFigures, context)), "count");
    rows_.clear();
    return report;
  }

 private:
  static bool is_entry(const EventType& type) {
    return !type.probe.empty() || (is_heap_type(type) && type.format.find("result") == nullptr &&
                                   type.format.find("again") == nullptr);
  }

  GroupBy<CallCost> rows_;
  std::uint64_t functions_ = 0;  // places that are probed
};

bool handles(const EventType& type) {
  return !type.probe.empty() || is_heap_type(type);
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Calls>(choose_heap_keys(options, kKeys));
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "calls of any functions, by function, caller, stack or thread",
    .needs = kNeeds,
    .keys = kKeys,
    .options = {},
    .of_programs = true,
    .handles = handles,
    .make = make,
};

}  // namespace memtrace::calls_view
