// slab: the kernel's object caches, kmalloc's included: how fast they are used and what is live.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "views/kernel/cache_key.h"
#include "views/kernel/flow_rows.h"
#include "views/kernel/slab_truth.h"
#include "views/kit/make_view.h"

namespace memtrace::slab_view {
namespace {

constexpr std::size_t kUsualFigures = 7;
constexpr auto kFigures = std::to_array<FlowFigure>({
    figure<&FlowCost::allocs>("allocs"),
    figure_if<&FlowContext::frees_seen, &FlowCost::frees>("frees"),
    figure<&FlowCost::bytes>("bytes", Unit::Bytes),
    rate_figure<&FlowCost::allocs>("allocs_per_second"),
    rate_figure<&FlowCost::bytes>("bytes_per_second", Unit::BytesPerSecond),
    figure_if<&FlowContext::frees_seen, &FlowCost::live_blocks>("live_objects"),
    figure_if<&FlowContext::frees_seen, &FlowCost::live_bytes>("live_bytes", Unit::Bytes),
    figure<&FlowCost::bytes_req>("bytes_req", Unit::Bytes),
    mean_figure<&FlowCost::bytes, &FlowCost::allocs>("avg_bytes", Unit::Bytes),
    figure<&FlowCost::waste>("waste", Unit::Bytes),
    percent_figure<&FlowCost::waste, &FlowCost::bytes>("waste_percent"),
    figure_if<&FlowContext::frees_seen, &FlowCost::cross_cpu>("cross_cpu"),
    figure_if<&FlowContext::cross_nodes_known, &FlowCost::cross_node>("cross_node"),
    figure_if<&FlowContext::frees_seen, &FlowCost::live_req>("live_req", Unit::Bytes),
    figure_if<&FlowContext::frees_seen, &FlowCost::live_waste>("live_waste", Unit::Bytes),
    figure_if<&FlowContext::frees_seen, &FlowCost::max_live_bytes>("max_live_bytes", Unit::Bytes),
    figure_if<&FlowContext::frees_seen, &FlowCost::max_live_req>("max_live_req", Unit::Bytes),
    figure_if<&FlowContext::frees_seen, &FlowCost::max_live_waste>("max_live_waste", Unit::Bytes),
});

// Only what a live block remembers: a free is charged to the row that allocated the object.
constexpr auto kKeys = std::to_array<std::string_view>(
    {"cache", "stack", "caller", "comm", "pid", "tid", "size", "gfp", "cpu", "object"});
constexpr auto kNeeds = std::to_array<std::string_view>({"kmem:kmem_cache_alloc",
                                                         "kmem:kmem_cache_alloc_node|",
                                                         "kmem:kmalloc",
                                                         "kmem:kmalloc_node|",
                                                         "kmem:kmem_cache_free",
                                                         "kmem:kfree"});
constexpr auto kOptions = std::to_array<ViewOption>({
    show_option("show these columns instead of the default ones; memtrace help slab"),
    {"summary", "", "also print totals of bytes asked for, allocated, wasted and freed"},
    kTruthOption,
    kShortGfpOption,
    kHistOption,
});

constexpr auto kOwnKeys = std::to_array<KeySpec>(
    {kCacheKey,
     {.name = "object",
      .unit = Unit::Address,
      .of = [](const Event& event) { return std::get<SlabAlloc>(event.payload).ptr; },
      .of_block = [](const LiveBlock& block) { return block.key; },
      .cell = [](std::uint64_t word, const CellContext&) { return Cell(word); }}});

class Slab final : public View {
 public:
  Slab(const KeySet& keys, FlowOptions flow, const ViewOptions& options)
      : flow_(keys, std::move(flow), options), cache_names_(options.slab_caches) {
    if (options.own.contains(std::string(kTruthOption.name))) {
      truth_.emplace(false);
    }
  }

  void on(const Event& event, const World& /*world*/) override {
    if (truth_) {
      truth_->on(event);
    }
    if (const auto* alloc = std::get_if<SlabAlloc>(&event.payload)) {
      on_alloc(event, *alloc);
    } else if (const auto* free = std::get_if<SlabFree>(&event.payload)) {
      on_free(event, *free);
    }
  }

  Report finish(const World& world, Span span) override;

 private:
  void on_alloc(const Event& event, const SlabAlloc& alloc);
  void on_free(const Event& event, const SlabFree& free);
  std::vector<Total> totals(const FlowContext& context) const;

  FlowRows flow_;
  CacheNames cache_names_;
  std::optional<SlabTruth> truth_;
  std::uint64_t unknown_frees_ = 0;
  std::uint64_t remote_allocs_ = 0;  // of memory that was asked for on another node
};

void Slab::on_alloc(const Event& event, const SlabAlloc& alloc) {
  if (alloc.ptr != 0) {
    flow_.allocate(event, alloc.bytes_alloc, alloc.bytes_req);
  } else {  // one that failed is traced too (mm/slub.c traces whatever it returns)
    flow_.row(event).allocs += event.weight;
  }
  remote_allocs_ += flow_.nodes().is_remote(event.cpu, alloc.node) ? event.weight : 0;
}

void Slab::on_free(const Event& event, const SlabFree& free) {
  if (flow_.release(event)) {
    cache_names_.learn(event);
  } else if (free.ptr != 0) {
    // kfree(NULL) is traced too (mm/slub.c traces before it tests): it frees nothing.
    unknown_frees_ += event.weight;
  }
}

std::vector<Total> Slab::totals(const FlowContext& context) const {
  const FlowCost total = flow_.total();
  std::vector<Total> totals = {{"allocs", Unit::Count, total.allocs},
                               {"frees", Unit::Count, total.frees + unknown_frees_},
                               {"unknown_frees", Unit::Count, unknown_frees_},
                               {"bytes", Unit::Bytes, total.bytes}};
  if (context.frees_seen) {
    totals.push_back({"live_objects", Unit::Count, total.live_blocks});
    totals.push_back({"live_bytes", Unit::Bytes, total.live_bytes});
  }
  return totals;
}

Report Slab::finish(const World& world, Span span) {
  flow_.finish(world.live().slabs(), world);
  const CacheContext context{flow_.context(world, span), cache_names_};
  Report report{.view = "slab", .title = "slab allocations and frees"};
  report.totals = totals(context);
  const FlowCost total = flow_.total();
  flow_.add_table(report, context);
  report.caveats.notes = flow_.notes(flow_.options().summary);
  if (const auto column = flow_.key_index("cache")) {
    make_rows(report.tables.front());
    std::ranges::move(cache_names_.notes(world, report.tables.front(), *column),
                      std::back_inserter(report.caveats.notes));
  }
  if (flow_.options().summary) {
    report.tables.push_back(
        slab_summary({total, remote_allocs_, context.frees_seen, context.nodes_known}));
  }
  if (truth_) {
    std::ranges::move(truth_->take(cache_names_, world, span), std::back_inserter(report.tables));
    std::ranges::copy(truth_->notes(), std::back_inserter(report.caveats.notes));
  }
  flow_.begin_interval();
  unknown_frees_ = remote_allocs_ = 0;
  return report;
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Slab>(KeySet::choose(options, kKeys, kOwnKeys),
                         FlowOptions::of(options, choose_figures(options, kFigures, kUsualFigures)),
                         options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary =
        "kernel object caches: allocation rates by cache, stack or process, and what is live",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .needs_live_blocks = true,
    .looks_at_stack_keys_only = true,
    .make = make,
};

}  // namespace memtrace::slab_view
