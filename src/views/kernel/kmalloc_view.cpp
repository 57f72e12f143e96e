// kmalloc: who asks the kernel's general allocator for memory, and what it wastes by rounding up.
#include <array>
#include <optional>
#include <utility>

#include "views/kernel/flow_cost.h"
#include "views/kernel/gfp_names.h"
#include "views/kit/event_list.h"
#include "views/kit/group_by.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"
#include "views/kit/show_option.h"

namespace memtrace::kmalloc_view {
namespace {

// One of them, for --trace.
struct KmallocLine {
  std::uint64_t time_ns = 0;
  StringId comm;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  LocationId caller;
  std::uint64_t bytes_req = 0;
  std::uint64_t bytes_alloc = 0;
  std::uint64_t gfp = 0;
  std::uint64_t ptr = 0;
  StackId stack;
};

struct KmallocCost {
  std::uint64_t count = 0;
  std::uint64_t bytes_req = 0;
  std::uint64_t bytes_alloc = 0;

  std::uint64_t waste_bytes() const { return waste_of(bytes_alloc, bytes_req); }
};

constexpr std::size_t kUsualFigures = 5;
constexpr auto kFigures = std::to_array<Figure<KmallocCost>>({
    figure<&KmallocCost::count>("count"),
    figure<&KmallocCost::bytes_req>("bytes_req", Unit::Bytes),
    figure<&KmallocCost::bytes_alloc>("bytes_alloc", Unit::Bytes),
    figure<&KmallocCost::waste_bytes>("waste", Unit::Bytes),
    percent_figure<&KmallocCost::waste_bytes, &KmallocCost::bytes_alloc>("waste_percent"),
    mean_figure<&KmallocCost::bytes_alloc, &KmallocCost::count>("avg_bytes", Unit::Bytes),
});

// size is what was asked for: the size classes that it is rounded up to are slab's caches.
constexpr auto kKeys = std::to_array<std::string_view>(
    {"stack", "caller", "comm", "pid", "tid", "size", "gfp", "node", "cpu"});
constexpr auto kNeeds = std::to_array<std::string_view>({"kmem:kmalloc", "kmem:kmalloc_node|"});
constexpr auto kOptions = std::to_array<ViewOption>({
    show_option("show these columns instead of the default ones; memtrace help kmalloc"),
    kShortGfpOption,
    kHistOption,
    {"trace", "", "print a line for each allocation as it happens, in place of the report"},
});

class Kmalloc final : public View {
 public:
  Kmalloc(KeySet keys, std::vector<Figure<KmallocCost>> figures, const ViewOptions& options)
      : rows_(std::move(keys)),
        figures_(std::move(figures)),
        short_gfp_(options.own.contains(std::string(kShortGfpOption.name))),
        has_trace_(options.wants_lines()),
        has_stacks_(options.asks_for("stack")) {
    if (options.own.contains(std::string(kHistOption.name))) {
      row_sizes_.emplace(rows_.keys().size());
    }
  }

  void on(const Event& event, const World& /*world*/) override {
    const auto* alloc = std::get_if<SlabAlloc>(&event.payload);
    if (alloc != nullptr && alloc->kmalloc) {
      gfp_flags_.learn(*event.type);
      if (has_trace_) {
        list(event, *alloc);
      }
      // One that failed is traced too (mm/slub.c traces whatever it returns).
      const std::uint64_t got = alloc->ptr != 0 ? event.weight : 0;
      rows_.row(event) += {event.weight, got * alloc->bytes_req, got * alloc->bytes_alloc};
      if (row_sizes_) {
        row_sizes_->add(rows_.keys().of(event), alloc->bytes_req, event.weight);
      }
    }
  }

  Table take_lines(const World& world, Span span, Namer& /*namer*/) override {
    ListColumns<KmallocLine> columns = {
        comm_column<KmallocLine>(),
        figure<&KmallocLine::pid>("pid", Unit::Number),
        figure<&KmallocLine::tid>("tid", Unit::Number),
        figure<&KmallocLine::caller>("caller", Unit::Text),
        figure<&KmallocLine::bytes_req>("bytes_req", Unit::Bytes),
        figure<&KmallocLine::bytes_alloc>("bytes_alloc", Unit::Bytes),
        figure<&KmallocLine::ptr>("ptr", Unit::Address),
        {"gfp", Unit::Text, shown_gfp}};
    if (has_stacks_) {
      columns.push_back(figure<&KmallocLine::stack>("stack", Unit::Stack));
    }
    const CellContext context{.world = world, .span = span, .gfp_flags = gfp_flags_.names()};
    return lines_.take(columns, context);
  }

  Report finish(const World& world, Span span) override {
    const CellContext context{.world = world, .span = span, .gfp_flags = gfp_flags_.names()};
    Report report{.view = "kmalloc", .title = "kmalloc allocations"};
    report.totals = totals_of(std::span(kFigures).first(4), rows_.total(), context);
    Table& table = report.tables.emplace_back(std::move(rows_).take_table(figures_, context));
    sort_by(table, "bytes_alloc");
    if (row_sizes_) {
      row_sizes_->move_into(
          table, {.title = "sizes asked for", .unit = Unit::Bytes}, rows_.keys(), context);
    }
    if (short_gfp_) {
      make_rows(report.tables.front());
      shorten_gfp_names(report);
    }
    rows_.clear();
    return report;
  }

 private:
  static Cell shown_gfp(const KmallocLine& line, const CellContext& context) {
    return gfp_cell(line.gfp, context);
  }

  void list(const Event& event, const SlabAlloc& alloc) {
    lines_.add({.time_ns = event.time_ns,
                .comm = event.comm,
                .pid = event.pid,
                .tid = event.tid,
                .caller = event.call_site,
                .bytes_req = alloc.bytes_req,
                .bytes_alloc = alloc.bytes_alloc,
                .gfp = alloc.gfp,
                .ptr = alloc.ptr,
                .stack = event.stack});
  }

  GroupBy<KmallocCost> rows_;
  std::vector<Figure<KmallocCost>> figures_;
  bool short_gfp_ = false;
  bool has_trace_ = false;
  bool has_stacks_ = false;  // of the lines
  EventList<KmallocLine> lines_;
  std::optional<KeyedHistograms> row_sizes_;
  FieldNames gfp_flags_ = gfp_flag_names();
};

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Kmalloc>(
      KeySet::choose(options, kKeys), choose_figures(options, kFigures, kUsualFigures), options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "kernel memory from kmalloc: who allocates, how much, and what is wasted",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .looks_at_stack_keys_only = true,
    .make = make,
};

}  // namespace memtrace::kmalloc_view
