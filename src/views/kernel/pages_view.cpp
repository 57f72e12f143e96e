// pages: who takes whole pages from the page allocator, of which order and migrate type.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "views/kernel/alloc_flow.h"
#include "views/kernel/flow_cost.h"
#include "views/kernel/gfp_names.h"
#include "views/kernel/kmem_events.h"
#include "views/kernel/live_maxima.h"
#include "views/kernel/order_matrix.h"
#include "views/kit/show_option.h"

namespace memtrace {
namespace {

constexpr std::size_t kUsualFigures = 6;
constexpr auto kFigures = std::to_array<FlowFigure>({
    figure<&FlowCost::allocs>("allocs"),
    figure_if<&FlowContext::frees_seen, &FlowCost::frees>("frees"),
    figure<&FlowCost::bytes>("bytes", Unit::Bytes),
    figure_if<&FlowContext::frees_seen, &FlowCost::live_pages>("live_pages"),
    figure_if<&FlowContext::frees_seen, &FlowCost::live_bytes>("live_bytes", Unit::Bytes),
    figure<&FlowCost::failures>("failures"),
    figure_if<&FlowContext::frees_seen, &FlowCost::freed_bytes>("freed_bytes", Unit::Bytes),
    figure_if<&FlowContext::frees_seen, &FlowCost::cross_cpu>("cross_cpu"),
    figure_if<&FlowContext::cross_nodes_known, &FlowCost::cross_node>("cross_node"),
    figure_if<&FlowContext::frees_seen, &FlowCost::max_live_bytes>("max_live_bytes", Unit::Bytes),
});

constexpr auto kKeys = std::to_array<std::string_view>(
    {"stack", "caller", "comm", "pid", "tid", "order", "migratetype", "gfp", "cpu", "page"});
constexpr auto kNeeds = std::to_array<std::string_view>(
    {"kmem:mm_page_alloc", "kmem:mm_page_free|kmem:mm_page_free_direct", "kmem:mm_pagevec_free|"});

constexpr auto kOptions = std::to_array<ViewOption>({
    {kShowOption,
     "COLUMN,...",
     "show these columns instead of the default ones; memtrace help pages"},
    {"summary", "", "also print totals of what was allocated, freed, both, and failed"},
    kShortGfpOption,
});

// The innermost frame that is no function of the page allocator. Names are asked for at the end
// only, stack by stack: until then the word is the stack.
std::uint64_t settle_caller(std::uint64_t word, const CellContext& context) {
  const auto frames = context.world.stacks().locations(StackId{static_cast<std::uint32_t>(word)});
  for (const LocationId frame : frames) {
    if (context.is_page_allocator == nullptr || !(*context.is_page_allocator)(frame)) {
      return frame.value;
    }
  }
  return frames.empty() ? 0 : frames.back().value;
}

constexpr auto kOwnKeys = std::to_array<KeySpec>({
    {.name = "caller",
     .unit = Unit::Text,
     .of = [](const Event& event) { return std::uint64_t{event.stack.value}; },
     .of_block = [](const LiveBlock& block) { return std::uint64_t{block.stack.value}; },
     .cell =
         [](std::uint64_t word, const CellContext&) {
           return unless_invalid(LocationId{static_cast<std::uint32_t>(word)});
         },
     .resolve_late = settle_caller},
    {.name = "page",
     .unit = Unit::Address,
     .of = [](const Event& event) { return std::get<PageAlloc>(event.payload).page; },
     .of_block = [](const LiveBlock& block) { return block.key; },
     .cell = [](std::uint64_t word, const CellContext&) { return Cell(word); }},
});

struct PagesOptions {
  std::vector<FlowFigure> figures;
  bool maxima = false;
  bool summary = false;
  bool short_gfp = false;
};

class Pages final : public View {
 public:
  Pages(const KeySet& keys, PagesOptions chosen, const ViewOptions& options)
      : rows_(keys),
        maxima_(chosen.maxima ? std::optional<MaximaByRow>(keys) : std::nullopt),
        chosen_(std::move(chosen)),
        options_(options),
        nodes_(options.cpu_nodes) {}

  void on(const Event& event, const World& /*world*/) override {
    if (const auto* alloc = std::get_if<PageAlloc>(&event.payload)) {
      on_alloc(event, *alloc);
    } else if (const auto* free = std::get_if<PageFree>(&event.payload)) {
      on_free(event, *free);
    }
  }

  Report finish(const World& world, Span span) override;

 private:
  void on_alloc(const Event& event, const PageAlloc& alloc);
  void on_free(const Event& event, const PageFree& free);
  void add_live(const World& world);
  void add_totals(Report& report) const;
  void begin_interval();
  std::uint64_t bytes_of(std::uint32_t order) const;

  GroupBy<FlowCost> rows_;
  std::optional<MaximaByRow> maxima_;
  PagesOptions chosen_;
  ViewOptions options_;
  CpuNodes nodes_;
  OrderMatrix matrix_;
  FieldNames gfp_flags_ = gfp_flag_names();
  PageTotals unmatched_;  // failures, and frees of pages that were allocated before
  bool frees_seen_ = false;
  bool sampled_ = false;
};

// 0 for an order that no kernel has: nonsense from a damaged file.
std::uint64_t Pages::bytes_of(std::uint32_t order) const {
  return order < OrderMatrix::kOrders ? options_.page_size_bytes << order : 0;
}

void Pages::on_alloc(const Event& event, const PageAlloc& alloc) {
  sampled_ = sampled_ || event.weight > 1;
  gfp_flags_.learn(*event.type);
  FlowCost& cost = rows_.row(event);
  const std::uint64_t bytes = bytes_of(alloc.order);
  if (alloc.failed) {
    cost.failures += event.weight;
    unmatched_.failed_bytes += event.weight * bytes;
    return;
  }
  matrix_.add(alloc, event.weight);
  cost.allocs += event.weight;
  cost.bytes += event.weight * bytes;
  if (maxima_) {
    maxima_->allocate(event, bytes, bytes);
  }
}

void Pages::on_free(const Event& event, const PageFree& free) {
  frees_seen_ = true;
  if (event.freed == nullptr) {
    unmatched_.frees += event.weight;
    unmatched_.freed_bytes += event.weight * bytes_of(free.order);
    return;
  }
  const LiveBlock& block = *event.freed;
  FlowCost& cost = rows_.row(block);
  cost.frees += event.weight;
  cost.freed_bytes += event.weight * block.bytes;
  cost.cross_cpu += event.cpu != block.cpu ? event.weight : 0;
  cost.cross_node += nodes_.differ(event.cpu, block.cpu) ? event.weight : 0;
  if (maxima_) {
    maxima_->free(block);
  }
}

void Pages::add_live(const World& world) {
  for (const auto& [page, block] : world.live().pages()) {
    if (!options_.tasks.accepts(world, block)) {
      continue;
    }
    FlowCost& cost = rows_.row(block);
    cost.live_pages += block.bytes / options_.page_size_bytes;
    cost.live_bytes += block.bytes;
  }
}

void Pages::add_totals(Report& report) const {
  const FlowCost total = rows_.total();
  report.totals = {{"allocs", Unit::Count, total.allocs},
                   {"frees", Unit::Count, total.frees + unmatched_.frees},
                   {"unknown_frees", Unit::Count, unmatched_.frees},
                   {"bytes", Unit::Bytes, total.bytes},
                   {"failures", Unit::Count, total.failures}};
  if (frees_seen_) {
    report.totals.push_back({"live_pages", Unit::Count, total.live_pages});
    report.totals.push_back({"live_bytes", Unit::Bytes, total.live_bytes});
  } else {
    report.caveats.notes.emplace_back(kNoFreesNote);
  }
  if (sampled_) {
    report.caveats.notes.emplace_back(kSampledNote);
  }
  if (!nodes_.known() && has_figure(chosen_.figures, "cross_node")) {
    report.caveats.notes.emplace_back(kNoNodesNote);
  }
}

Report Pages::finish(const World& world, Span span) {
  add_live(world);
  if (maxima_) {
    maxima_->add_to(rows_);
  }
  const FlowContext context{
      {.world = world,
       .span = span,
       .gfp_flags = gfp_flags_.names(),
       .migratetypes = options_.migratetypes,
       .is_page_allocator = options_.is_page_allocator ? &options_.is_page_allocator : nullptr},
      frees_seen_,
      nodes_.known()};
  Report report;
  report.view = "pages";
  report.title = "page allocations and frees";
  add_totals(report);
  sort_by(report.tables.emplace_back(rows_.table(chosen_.figures, context)), "bytes");
  if (chosen_.short_gfp) {
    shorten_gfp_names(report);
  }
  if (chosen_.summary) {
    report.tables.push_back(pages_summary(rows_.total(), unmatched_, frees_seen_));
  }
  report.tables.push_back(matrix_.table(options_.migratetypes));
  begin_interval();
  return report;
}

void Pages::begin_interval() {
  rows_.clear();
  matrix_ = {};
  unmatched_ = {};
  if (maxima_) {
    maxima_->begin_interval();
  }
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  auto keys = KeySet::choose(options, kKeys, kOwnKeys);
  if (!keys.ok()) {
    return keys.take_error();
  }
  auto figures = choose_figures(options, kFigures, kUsualFigures);
  if (!figures.ok()) {
    return figures.take_error();
  }
  const bool maxima = has_figure(figures.value(), "max_live_bytes");
  return std::unique_ptr<View>(std::make_unique<Pages>(
      keys.value(),
      PagesOptions{.figures = figures.take(),
                   .maxima = maxima,
                   .summary = options.own.contains("summary"),
                   .short_gfp = options.own.contains(std::string(kShortGfpOption.name))},
      options));
}

}  // namespace

extern const ViewSpec view_pages;
constinit const ViewSpec view_pages{
    .summary = "pages from the kernel's page allocator: by stack, process, order or migrate type",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .needs_live_blocks = true,
    .make = make,
};

}  // namespace memtrace
