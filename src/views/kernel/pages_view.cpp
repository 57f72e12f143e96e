// pages: who takes whole pages from the page allocator, of which order and migrate type.
#include <array>
#include <utility>

#include "views/kernel/flow_rows.h"
#include "views/kernel/order_matrix.h"
#include "views/kit/make_view.h"
#include "views/truth/vmstat_check.h"

namespace memtrace::pages_view {
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
    show_option("show these columns instead of the default ones; memtrace help pages"),
    {"summary", "", "also print totals of what was allocated, freed, both, and failed"},
    kShortGfpOption,
    kHistOption,
});

struct PagesContext : FlowContext {
  std::span<const std::string> migratetypes;
  const std::function<bool(LocationId)>& is_page_allocator;  // empty: nothing is known
};

Cell migratetype_cell(std::uint64_t word, const CellContext& context) {
  const auto names = own_context<PagesContext>(context).migratetypes;
  return word < names.size() ? names[word] : std::to_string(static_cast<std::int64_t>(word));
}

// The innermost frame that is no function of the page allocator.
std::uint64_t settle_caller(std::uint64_t word, const CellContext& context) {
  const auto frames = context.world.stacks().locations(StackId{static_cast<std::uint32_t>(word)});
  const std::uint64_t caller =
      first_caller(frames, own_context<PagesContext>(context).is_page_allocator);
  return caller != 0 || frames.empty() ? caller : frames.back().value;
}

constexpr std::uint64_t word_of(std::int64_t number) {
  return static_cast<std::uint64_t>(number);
}

constexpr auto kOwnKeys = std::to_array<KeySpec>({
    {.name = "migratetype",
     .unit = Unit::Text,
     .of =
         [](const Event& event) { return word_of(std::get<PageAlloc>(event.payload).migratetype); },
     .of_block = [](const LiveBlock& block) { return word_of(block.migratetype); },
     .cell = migratetype_cell},
    {.name = "page",
     .unit = Unit::Address,
     .of = [](const Event& event) { return std::get<PageAlloc>(event.payload).page; },
     .of_block = [](const LiveBlock& block) { return block.key; },
     .cell = [](std::uint64_t word, const CellContext&) { return Cell(word); }},
});

class Pages final : public View {
 public:
  Pages(const KeySet& keys, FlowOptions flow, const ViewOptions& options)
      : flow_(keys, std::move(flow), options), options_(options) {}

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
  std::vector<Total> totals(const FlowContext& context) const;
  void check_sum(std::uint64_t bytes, const World& world, Report& report) const;
  std::uint64_t bytes_of(std::uint32_t order) const;

  FlowRows flow_;
  ViewOptions options_;
  OrderMatrix matrix_;
  PageTotals unmatched_;  // failures, and frees of pages that were allocated before
};

// 0 for an order that no kernel has: nonsense from a damaged file.
std::uint64_t Pages::bytes_of(std::uint32_t order) const {
  return order < OrderMatrix::kOrders ? options_.page_size_bytes << order : 0;
}

void Pages::on_alloc(const Event& event, const PageAlloc& alloc) {
  const std::uint64_t bytes = bytes_of(alloc.order);
  if (alloc.failed) {
    flow_.row(event).failures += event.weight;
    unmatched_.failed_bytes += event.weight * bytes;
    return;
  }
  matrix_.add(alloc, event.weight);
  flow_.allocate(event, bytes, bytes);
}

void Pages::on_free(const Event& event, const PageFree& free) {
  if (!flow_.release(event)) {
    unmatched_.frees += event.weight;
    unmatched_.freed_bytes += event.weight * bytes_of(free.order);
  }
}

std::vector<Total> Pages::totals(const FlowContext& context) const {
  const FlowCost total = flow_.total();
  std::vector<Total> totals = {{"allocs", Unit::Count, total.allocs},
                               {"frees", Unit::Count, total.frees + unmatched_.frees},
                               {"unknown_frees", Unit::Count, unmatched_.frees},
                               {"bytes", Unit::Bytes, total.bytes},
                               {"failures", Unit::Count, total.failures}};
  if (context.frees_seen) {
    totals.push_back({"live_pages", Unit::Count, total.live_pages});
    totals.push_back({"live_bytes", Unit::Bytes, total.live_bytes});
  }
  return totals;
}

// memtrace's own allocations are of single pages nearly all.
void Pages::check_sum(std::uint64_t bytes, const World& world, Report& report) const {
  VmstatCheck check(world);
  check.add(allocated_pages(bytes / options_.page_size_bytes));
  check.add_to(report);
}

Report Pages::finish(const World& world, Span span) {
  flow_.finish(world.live().pages(), world);
  const PagesContext context{
      flow_.context(world, span), options_.migratetypes, options_.is_page_allocator};
  Report report{.view = "pages", .title = "page allocations and frees"};
  report.totals = totals(context);
  report.caveats.notes = flow_.notes(false);
  const FlowCost total = flow_.total();
  check_sum(total.bytes, world, report);
  flow_.add_table(report, context);
  if (flow_.options().summary) {
    report.tables.push_back(pages_summary(total, unmatched_, context.frees_seen));
  }
  report.tables.push_back(matrix_.table(options_.migratetypes));
  flow_.begin_interval();
  matrix_ = {};
  unmatched_ = {};
  return report;
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  std::vector<KeySpec> own_keys(kOwnKeys.begin(), kOwnKeys.end());
  own_keys.push_back(caller_by_name_key);
  own_keys.back().resolve_late = settle_caller;
  return make_view<Pages>(
      KeySet::choose(options, kKeys, own_keys),
      FlowOptions::of(options, choose_figures(options, kFigures, kUsualFigures)),
      options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "pages from the kernel's page allocator: by stack, process, order or migrate type",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .needs_live_blocks = true,
    .looks_at_stack_keys_only = true,
    .make = make,
};

}  // namespace memtrace::pages_view
