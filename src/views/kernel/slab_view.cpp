// slab: the kernel's object caches, kmalloc's included: how fast they are used and what is live.
#include <array>
#include <optional>
#include <utility>

#include "views/kernel/alloc_flow.h"
#include "views/kernel/flow_cost.h"
#include "views/kernel/gfp_names.h"
#include "views/kernel/kmem_events.h"
#include "views/kernel/live_maxima.h"
#include "views/kit/show_option.h"

namespace memtrace {
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
    {kShowOption,
     "COLUMN,...",
     "show these columns instead of the default ones; memtrace help slab"},
    {"summary", "", "also print totals of bytes asked for, allocated, wasted and freed"},
    kShortGfpOption,
});

constexpr KeySpec kObjectKey{
    .name = "object",
    .unit = Unit::Address,
    .of = [](const Event& event) { return std::get<SlabAlloc>(event.payload).ptr; },
    .of_block = [](const LiveBlock& block) { return block.key; },
    .cell = [](std::uint64_t word, const CellContext&) { return Cell(word); }};

struct SlabOptions {
  TaskFilter tasks;
  std::vector<FlowFigure> figures;
  bool maxima = false;
  bool summary = false;
  bool short_gfp = false;
};

class Slab final : public View {
 public:
  Slab(const KeySet& keys, SlabOptions options, const ViewOptions& machine)
      : rows_(keys),
        maxima_(options.maxima ? std::optional<MaximaByRow>(keys) : std::nullopt),
        options_(std::move(options)),
        cache_names_(machine.slab_caches),
        nodes_(machine.cpu_nodes) {}

  void on(const Event& event, const World& /*world*/) override {
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
  void add_live(const World& world);
  void add_totals(Report& report) const;
  void add_notes(Report& report, const World& world) const;
  void begin_interval();

  GroupBy<FlowCost> rows_;
  std::optional<MaximaByRow> maxima_;
  SlabOptions options_;
  CacheNames cache_names_;
  CpuNodes nodes_;
  FieldNames gfp_flags_ = gfp_flag_names();
  std::uint64_t unknown_frees_ = 0;
  std::uint64_t remote_allocs_ = 0;  // of memory that was asked for on another node
  bool frees_seen_ = false;
  bool sampled_ = false;
};

void Slab::on_alloc(const Event& event, const SlabAlloc& alloc) {
  sampled_ = sampled_ || event.weight > 1;
  gfp_flags_.learn(*event.type);
  FlowCost& cost = rows_.row(event);
  cost.allocs += event.weight;
  if (alloc.ptr != 0) {  // one that failed is traced too (mm/slub.c traces whatever it returns)
    cost.bytes += event.weight * alloc.bytes_alloc;
    cost.bytes_req += event.weight * alloc.bytes_req;
  }
  remote_allocs_ += nodes_.is_remote(event.cpu, alloc.node) ? event.weight : 0;
  if (maxima_ && alloc.ptr != 0) {
    maxima_->allocate(event, alloc.bytes_alloc, alloc.bytes_req);
  }
}

void Slab::on_free(const Event& event, const SlabFree& free) {
  frees_seen_ = true;
  if (event.freed != nullptr) {
    cache_names_.learn(event);
    const LiveBlock& block = *event.freed;
    FlowCost& cost = rows_.row(block);
    cost.frees += event.weight;
    cost.freed_bytes += event.weight * block.bytes;
    cost.cross_cpu += event.cpu != block.cpu ? event.weight : 0;
    cost.cross_node += nodes_.differ(event.cpu, block.cpu) ? event.weight : 0;
    if (maxima_) {
      maxima_->free(block);
    }
  } else if (free.ptr != 0) {
    // kfree(NULL) is traced too (mm/slub.c traces before it tests): it frees nothing.
    unknown_frees_ += event.weight;
  }
}

void Slab::add_live(const World& world) {
  // From the world and not from allocs - frees: bulk frees are not traced in 5.10 and 6.1, and the
  // world forgets such a block when its address is given out again.
  for (const auto& [address, block] : world.live().slabs()) {
    if (!options_.tasks.accepts(world, block)) {
      continue;
    }
    FlowCost& cost = rows_.row(block);
    ++cost.live_blocks;
    cost.live_bytes += block.bytes;
    cost.live_req += block.bytes_req;
  }
}

void Slab::add_totals(Report& report) const {
  const FlowCost total = rows_.total();
  report.totals = {{"allocs", Unit::Count, total.allocs},
                   {"frees", Unit::Count, total.frees + unknown_frees_},
                   {"unknown_frees", Unit::Count, unknown_frees_},
                   {"bytes", Unit::Bytes, total.bytes}};
  if (frees_seen_) {
    report.totals.push_back({"live_objects", Unit::Count, total.live_blocks});
    report.totals.push_back({"live_bytes", Unit::Bytes, total.live_bytes});
  }
}

void Slab::add_notes(Report& report, const World& world) const {
  if (!frees_seen_) {
    report.caveats.notes.emplace_back(kNoFreesNote);
  }
  if (sampled_) {
    report.caveats.notes.emplace_back(kSampledNote);
  }
  if (!nodes_.known() && (options_.summary || has_figure(options_.figures, "cross_node"))) {
    report.caveats.notes.emplace_back(kNoNodesNote);
  }
  if (const auto column = rows_.keys().index_of("cache")) {
    const std::vector<std::string> notes =
        cache_names_.notes(world, report.tables.front(), *column);
    report.caveats.notes.insert(report.caveats.notes.end(), notes.begin(), notes.end());
  }
}

Report Slab::finish(const World& world, Span span) {
  add_live(world);
  if (maxima_) {
    maxima_->add_to(rows_);
  }
  const FlowContext context{
      {.world = world, .span = span, .gfp_flags = gfp_flags_.names(), .cache_names = &cache_names_},
      frees_seen_,
      nodes_.known()};
  Report report;
  report.view = "slab";
  report.title = "slab allocations and frees";
  add_totals(report);
  sort_by(report.tables.emplace_back(rows_.table(options_.figures, context)), "bytes");
  add_notes(report, world);
  if (options_.short_gfp) {
    shorten_gfp_names(report);
  }
  if (options_.summary) {
    report.tables.push_back(
        slab_summary({rows_.total(), remote_allocs_, context.frees_seen, context.nodes_known}));
  }
  begin_interval();
  return report;
}

void Slab::begin_interval() {
  rows_.clear();
  unknown_frees_ = 0;
  remote_allocs_ = 0;
  if (maxima_) {
    maxima_->begin_interval();
  }
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  auto keys = KeySet::choose(options, kKeys, std::span(&kObjectKey, 1));
  if (!keys.ok()) {
    return keys.take_error();
  }
  auto figures = choose_figures(options, kFigures, kUsualFigures);
  if (!figures.ok()) {
    return figures.take_error();
  }
  const bool maxima = std::ranges::any_of(figures.value(), [](const FlowFigure& figure) {
    return figure.name.starts_with("max_live");
  });
  return std::unique_ptr<View>(std::make_unique<Slab>(
      keys.value(),
      SlabOptions{.tasks = options.tasks,
                  .figures = figures.take(),
                  .maxima = maxima,
                  .summary = options.own.contains("summary"),
                  .short_gfp = options.own.contains(std::string(kShortGfpOption.name))},
      options));
}

}  // namespace

extern const ViewSpec view_slab;
constinit const ViewSpec view_slab{
    .summary =
        "kernel object caches: allocation rates by cache, stack or process, and what is live",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .needs_live_blocks = true,
    .make = make,
};

}  // namespace memtrace
