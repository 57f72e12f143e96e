// slab: the kernel's object caches, kmalloc's included: how fast they are used and what is live.
#include <array>
#include <utility>

#include "views/cost.h"
#include "views/group_by.h"
#include "views/shared_event_names.h"

namespace memtrace {
namespace {

Cell per_second(std::uint64_t amount, const CellContext& context) {
  const double seconds = context.seconds();
  return seconds > 0 ? Cell(static_cast<double>(amount) / seconds) : Cell();
}

Cell if_known(std::uint64_t live, const CellContext& context) {
  return context.frees_seen ? Cell(live) : Cell();
}

using SlabFigure = Figure<FlowCost>;

constexpr auto kFigures = std::to_array<SlabFigure>({
    {"allocs", Unit::Count, [](const FlowCost& c, const CellContext&) { return Cell(c.allocs); }},
    {"frees",
     Unit::Count,
     [](const FlowCost& c, const CellContext& x) { return if_known(c.frees, x); }},
    {"bytes", Unit::Bytes, [](const FlowCost& c, const CellContext&) { return Cell(c.bytes); }},
    {"allocs_per_second",
     Unit::PerSecond,
     [](const FlowCost& c, const CellContext& x) { return per_second(c.allocs, x); }},
    {"bytes_per_second",
     Unit::BytesPerSecond,
     [](const FlowCost& c, const CellContext& x) { return per_second(c.bytes, x); }},
    {"live_objects",
     Unit::Count,
     [](const FlowCost& c, const CellContext& x) { return if_known(c.live_blocks, x); }},
    {"live_bytes",
     Unit::Bytes,
     [](const FlowCost& c, const CellContext& x) { return if_known(c.live_bytes, x); }},
});

// Only what a live block remembers: a free is charged to the row that allocated the object.
constexpr auto kKeys = std::to_array<std::string_view>(
    {"cache", "stack", "caller", "comm", "pid", "tid", "size", "gfp", "cpu"});
constexpr auto kNeeds = std::to_array<std::string_view>({"kmem:kmem_cache_alloc",
                                                         "kmem:kmem_cache_alloc_node|",
                                                         "kmem:kmalloc",
                                                         "kmem:kmalloc_node|",
                                                         "kmem:kmem_cache_free",
                                                         "kmem:kfree"});

class Slab final : public View {
 public:
  Slab(KeySet keys, const ViewOptions& options)
      : rows_(std::move(keys)), tasks_(options.tasks), cache_names_(options.slab_caches) {}

  void on(const Event& event, const World& /*world*/) override {
    if (const auto* alloc = std::get_if<SlabAlloc>(&event.payload)) {
      sampled_ = sampled_ || event.weight > 1;
      gfp_flags_.learn(*event.type);
      FlowCost& cost = rows_.row(event);
      cost.allocs += event.weight;
      cost.bytes += event.weight * alloc->bytes_alloc;
    } else if (const auto* free = std::get_if<SlabFree>(&event.payload)) {
      on_free(event, *free);
    }
  }

  Report finish(const World& world, Span span) override;

 private:
  void on_free(const Event& event, const SlabFree& free);
  void add_live(const World& world);

  GroupBy<FlowCost> rows_;
  TaskFilter tasks_;
  CacheNames cache_names_;
  GfpFlags gfp_flags_;
  std::uint64_t unknown_frees_ = 0;
  bool frees_seen_ = false;
  bool sampled_ = false;
};

void Slab::on_free(const Event& event, const SlabFree& free) {
  frees_seen_ = true;
  if (event.freed != nullptr) {
    cache_names_.learn(event);
    rows_.row(*event.freed).frees += event.weight;
  } else if (free.ptr != 0) {
    // kfree(NULL) is traced too (mm/slub.c traces before it tests): it frees nothing.
    unknown_frees_ += event.weight;
  }
}

void Slab::add_live(const World& world) {
  // From the world and not from allocs - frees: bulk frees are not traced in 5.10 and 6.1, and the
  // world forgets such a block when its address is given out again.
  for (const auto& [address, block] : world.live().slabs()) {
    if (!tasks_.accepts(world, block)) {
      continue;
    }
    FlowCost& cost = rows_.row(block);
    ++cost.live_blocks;
    cost.live_bytes += block.bytes;
  }
}

Report Slab::finish(const World& world, Span span) {
  add_live(world);
  const CellContext context{.world = world,
                            .span = span,
                            .gfp_flags = gfp_flags_.names(),
                            .cache_names = &cache_names_,
                            .frees_seen = frees_seen_};
  Report report;
  report.view = "slab";
  report.title = "slab allocations and frees";
  const FlowCost total = rows_.total();
  report.totals = {{"allocs", Unit::Count, total.allocs},
                   {"frees", Unit::Count, total.frees + unknown_frees_},
                   {"unknown_frees", Unit::Count, unknown_frees_},
                   {"bytes", Unit::Bytes, total.bytes}};
  if (frees_seen_) {
    report.totals.push_back({"live_objects", Unit::Count, total.live_blocks});
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
  if (const auto column = rows_.keys().index_of("cache")) {
    const std::vector<std::string> notes = cache_names_.notes(world, table, *column);
    report.caveats.notes.insert(report.caveats.notes.end(), notes.begin(), notes.end());
  }
  rows_.clear();
  unknown_frees_ = 0;
  return report;
}

bool handles(const EventType& type) {
  return is_slab_alloc(type) || is_slab_free(type);
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  auto keys = KeySet::choose(options, kKeys);
  if (!keys.ok()) {
    return keys.take_error();
  }
  return std::unique_ptr<View>(std::make_unique<Slab>(keys.take(), options));
}

}  // namespace

extern const ViewSpec view_slab;
constinit const ViewSpec view_slab{
    .summary =
        "kernel object caches: allocation rates by cache, stack or process, and what is live",
    .needs = kNeeds,
    .keys = kKeys,
    .options = {},
    .needs_live_blocks = true,
    .handles = handles,
    .make = make,
};

}  // namespace memtrace
