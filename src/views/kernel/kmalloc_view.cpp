// kmalloc: who asks the kernel's general allocator for memory, and what it wastes by rounding up.
#include <array>
#include <utility>

#include "views/kernel/alloc_flow.h"
#include "views/kernel/flow_cost.h"
#include "views/kernel/gfp_names.h"
#include "views/kernel/kmem_events.h"
#include "views/kit/group_by.h"
#include "views/kit/make_view.h"
#include "views/kit/show_option.h"

namespace memtrace {
namespace {

struct KmallocCost {
  std::uint64_t count = 0;
  std::uint64_t bytes_req = 0;
  std::uint64_t bytes_alloc = 0;

  std::uint64_t waste_bytes() const { return waste_of(bytes_alloc, bytes_req); }
};

using KmallocFigure = Figure<KmallocCost>;

constexpr std::size_t kUsualFigures = 5;
constexpr auto kFigures = std::to_array<KmallocFigure>({
    {"count", Unit::Count, [](const KmallocCost& c, const CellContext&) { return Cell(c.count); }},
    {"bytes_req",
     Unit::Bytes,
     [](const KmallocCost& c, const CellContext&) { return Cell(c.bytes_req); }},
    {"bytes_alloc",
     Unit::Bytes,
     [](const KmallocCost& c, const CellContext&) { return Cell(c.bytes_alloc); }},
    {"waste",
     Unit::Bytes,
     [](const KmallocCost& c, const CellContext&) { return Cell(c.waste_bytes()); }},
    {"waste_percent",
     Unit::Percent,
     [](const KmallocCost& c, const CellContext&) {
       return percent_cell(c.waste_bytes(), c.bytes_alloc);
     }},
    {"avg_bytes",
     Unit::Bytes,
     [](const KmallocCost& c, const CellContext&) {
       return quotient_cell(c.bytes_alloc, c.count);
     }},
});

// size is what was asked for: the size classes that it is rounded up to are slab's caches.
constexpr auto kKeys = std::to_array<std::string_view>(
    {"stack", "caller", "comm", "pid", "tid", "size", "gfp", "node", "cpu"});
constexpr auto kNeeds = std::to_array<std::string_view>({"kmem:kmalloc", "kmem:kmalloc_node|"});
constexpr auto kOptions = std::to_array<ViewOption>({
    {kShowOption,
     "COLUMN,...",
     "show these columns instead of the default ones; memtrace help kmalloc"},
    kShortGfpOption,
});

class Kmalloc final : public View {
 public:
  Kmalloc(KeySet keys, std::vector<KmallocFigure> figures, bool short_gfp)
      : rows_(std::move(keys)), figures_(std::move(figures)), short_gfp_(short_gfp) {}

  void on(const Event& event, const World& /*world*/) override {
    const auto* alloc = std::get_if<SlabAlloc>(&event.payload);
    if (alloc == nullptr || !alloc->kmalloc) {
      return;
    }
    gfp_flags_.learn(*event.type);
    // One that failed is traced too (mm/slub.c traces whatever it returns).
    const std::uint64_t got = alloc->ptr != 0 ? event.weight : 0;
    rows_.row(event) += {event.weight, got * alloc->bytes_req, got * alloc->bytes_alloc};
  }

  Report finish(const World& world, Span span) override {
    const CellContext context{.world = world, .span = span, .gfp_flags = gfp_flags_.names()};
    Report report;
    report.view = "kmalloc";
    report.title = "kmalloc allocations";
    const KmallocCost total = rows_.total();
    report.totals = {{"count", Unit::Count, total.count},
                     {"bytes_req", Unit::Bytes, total.bytes_req},
                     {"bytes_alloc", Unit::Bytes, total.bytes_alloc},
                     {"waste", Unit::Bytes, total.waste_bytes()}};
    sort_by(report.tables.emplace_back(rows_.table(figures_, context)), "bytes_alloc");
    if (short_gfp_) {
      shorten_gfp_names(report);
    }
    rows_.clear();
    return report;
  }

 private:
  GroupBy<KmallocCost> rows_;
  std::vector<KmallocFigure> figures_;
  bool short_gfp_ = false;
  GfpFlags gfp_flags_;
};

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Kmalloc>(
      KeySet::choose(options, kKeys),
      choose_figures(options, std::span<const KmallocFigure>(kFigures), kUsualFigures),
      options.own.contains(std::string(kShortGfpOption.name)));
}

}  // namespace

extern const ViewSpec view_kmalloc;
constinit const ViewSpec view_kmalloc{
    .summary = "kernel memory from kmalloc: who allocates, how much, and what is wasted",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .make = make,
};

}  // namespace memtrace
