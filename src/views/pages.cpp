// pages: who takes whole pages from the page allocator, of which order and migrate type.
#include <algorithm>
#include <array>
#include <utility>

#include "views/cost.h"
#include "views/group_by.h"
#include "views/shared_event_names.h"

namespace memtrace {
namespace {

Cell if_known(std::uint64_t live, const CellContext& context) {
  return context.frees_seen ? Cell(live) : Cell();
}

constexpr auto kFigures = std::to_array<Figure<FlowCost>>({
    {"allocs", Unit::Count, [](const FlowCost& c, const CellContext&) { return Cell(c.allocs); }},
    {"frees",
     Unit::Count,
     [](const FlowCost& c, const CellContext& x) { return if_known(c.frees, x); }},
    {"bytes", Unit::Bytes, [](const FlowCost& c, const CellContext&) { return Cell(c.bytes); }},
    {"live_pages",
     Unit::Count,
     [](const FlowCost& c, const CellContext& x) { return if_known(c.live_pages, x); }},
    {"live_bytes",
     Unit::Bytes,
     [](const FlowCost& c, const CellContext& x) { return if_known(c.live_bytes, x); }},
    {"failures",
     Unit::Count,
     [](const FlowCost& c, const CellContext&) { return Cell(c.failures); }},
});

constexpr auto kKeys = std::to_array<std::string_view>(
    {"stack", "comm", "pid", "tid", "order", "migratetype", "gfp", "cpu"});
constexpr auto kNeeds = std::to_array<std::string_view>(
    {"kmem:mm_page_alloc", "kmem:mm_page_free|kmem:mm_page_free_direct", "kmem:mm_pagevec_free|"});

// Allocations by order (rows) and migrate type (columns), as perf kmem and /proc/pagetypeinfo show
// them. What lies outside is no order or type of any kernel, so it is not worth a row.
class OrderMatrix {
 public:
  static constexpr std::size_t kOrders = 20;
  static constexpr std::size_t kTypes = 16;

  void add(const PageAlloc& alloc, std::uint64_t weight) {
    const auto type = static_cast<std::size_t>(alloc.migratetype);  // negative: out of range
    if (alloc.order < kOrders && type < kTypes) {
      counts_[alloc.order][type] += weight;
      orders_ = std::max<std::size_t>(orders_, alloc.order + 1U);
      types_ = std::max(types_, type + 1);
    }
  }

  Table table(std::span<const std::string> type_names) const {
    Table table;
    table.title = "allocations by order and migrate type";
    table.fixed = true;
    table.key_count = 1;
    table.columns.push_back({"order", Unit::Number});
    for (std::size_t type = 0; type < types_; ++type) {
      const bool named = type < type_names.size();
      table.columns.push_back({named ? type_names[type] : "type_" + std::to_string(type)});
    }
    for (std::size_t order = 0; order < orders_; ++order) {
      std::vector<Cell>& row = table.rows.emplace_back();
      row.emplace_back(std::uint64_t{order});
      row.insert(row.end(),
                 counts_[order].begin(),
                 std::next(counts_[order].begin(), static_cast<std::ptrdiff_t>(types_)));
    }
    return table;
  }

 private:
  std::array<std::array<std::uint64_t, kTypes>, kOrders> counts_{};
  std::size_t orders_ = 0;
  std::size_t types_ = 0;
};

class Pages final : public View {
 public:
  Pages(KeySet keys, const ViewOptions& options)
      : rows_(std::move(keys)),
        tasks_(options.tasks),
        page_size_bytes_(options.page_size_bytes),
        migratetypes_(options.migratetypes) {}

  void on(const Event& event, const World& /*world*/) override {
    if (const auto* alloc = std::get_if<PageAlloc>(&event.payload)) {
      on_alloc(event, *alloc);
    } else if (std::holds_alternative<PageFree>(event.payload)) {
      on_free(event);
    }
  }

  Report finish(const World& world, Span span) override;

 private:
  void on_alloc(const Event& event, const PageAlloc& alloc);
  void on_free(const Event& event);

  GroupBy<FlowCost> rows_;
  TaskFilter tasks_;
  OrderMatrix matrix_;
  GfpFlags gfp_flags_;
  std::uint64_t page_size_bytes_;
  std::vector<std::string> migratetypes_;
  std::uint64_t unknown_frees_ = 0;
  bool frees_seen_ = false;
  bool sampled_ = false;
};

void Pages::on_alloc(const Event& event, const PageAlloc& alloc) {
  sampled_ = sampled_ || event.weight > 1;
  gfp_flags_.learn(*event.type);
  FlowCost& cost = rows_.row(event);
  if (alloc.failed) {
    cost.failures += event.weight;
    return;
  }
  matrix_.add(alloc, event.weight);
  cost.allocs += event.weight;
  if (alloc.order < OrderMatrix::kOrders) {  // else nonsense from a damaged file
    cost.bytes += (page_size_bytes_ << alloc.order) * event.weight;
  }
}

void Pages::on_free(const Event& event) {
  frees_seen_ = true;
  if (event.freed != nullptr) {
    rows_.row(*event.freed).frees += event.weight;
  } else {
    unknown_frees_ += event.weight;
  }
}

Report Pages::finish(const World& world, Span span) {
  for (const auto& [page, block] : world.live().pages()) {
    if (!tasks_.accepts(world, block)) {
      continue;
    }
    FlowCost& cost = rows_.row(block);
    cost.live_pages += block.bytes / page_size_bytes_;
    cost.live_bytes += block.bytes;
  }
  const CellContext context{.world = world,
                            .span = span,
                            .gfp_flags = gfp_flags_.names(),
                            .migratetypes = migratetypes_,
                            .frees_seen = frees_seen_};
  Report report;
  report.view = "pages";
  report.title = "page allocations and frees";
  const FlowCost total = rows_.total();
  report.totals = {{"allocs", Unit::Count, total.allocs},
                   {"frees", Unit::Count, total.frees + unknown_frees_},
                   {"unknown_frees", Unit::Count, unknown_frees_},
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
  Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
  table.sort = "bytes";
  table.weight = "bytes";
  report.tables.push_back(matrix_.table(migratetypes_));
  rows_.clear();
  matrix_ = {};
  unknown_frees_ = 0;
  return report;
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  auto keys = KeySet::choose(options, kKeys);
  if (!keys.ok()) {
    return keys.take_error();
  }
  return std::unique_ptr<View>(std::make_unique<Pages>(keys.take(), options));
}

}  // namespace

extern const ViewSpec view_pages;
constinit const ViewSpec view_pages{
    .summary = "pages from the kernel's page allocator: by stack, process, order or migrate type",
    .needs = kNeeds,
    .keys = kKeys,
    .options = {},
    .needs_live_blocks = true,
    .handles = is_page_event,
    .make = make,
};

}  // namespace memtrace
