// kleaks: kernel memory that was allocated in the recording and not freed in it.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/units.h"
#include "views/kernel/cache_key.h"
#include "views/kernel/kmem_events.h"
#include "views/kernel/leak_origins.h"
#include "views/kernel/leak_parts.h"
#include "views/kernel/slab_truth.h"
#include "views/kit/make_view.h"
#include "views/kit/user_pages.h"
#include "views/leak/leak_rows.h"

namespace memtrace::kleaks_view {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>(
    {"origin", "stack", "kind", "cache", "caller", "comm", "pid", "tid"});
constexpr auto kAddressKeys =
    std::to_array<std::string_view>({"kind", "cache", "comm", "pid", "stack"});

constexpr auto kOptions = std::to_array<ViewOption>({
    {"user-pages", "", "also list the pages of programs and of the page cache"},
    kOlderOption,
    kHistOption,
    kTruthOption,
    {"addresses", "", "list each block with its address, oldest first"},
});
constexpr auto kNeeds =
    std::to_array<std::string_view>({"kmem:kmalloc",
                                     "kmem:kmalloc_node|",
                                     "kmem:kfree",
                                     "kmem:kmem_cache_alloc",
                                     "kmem:kmem_cache_alloc_node|",
                                     "kmem:kmem_cache_free",
                                     "kmem:mm_page_alloc",
                                     "kmem:mm_page_free|kmem:mm_page_free_direct",
                                     "kmem:mm_pagevec_free|",
                                     "percpu:percpu_alloc_percpu|",
                                     "percpu:percpu_free_percpu|"});

struct LeakOptions {
  std::uint64_t older_ns = 0;
  bool addresses = false;
  bool user_pages = false;
  TaskFilter tasks;
  Namer* namer = nullptr;
};

class KernelLeaks final : public View {
 public:
  KernelLeaks(KeySet keys, KeySet address_keys, LeakOptions leaks, const ViewOptions& options)
      : rows_(keys, address_keys, Judging::Yes, options),
        slab_pages_(std::move(keys), std::move(address_keys), Judging::No, options),
        options_(std::move(leaks)),
        cache_names_(options.slab_caches),
        origins_(options_.namer) {
    if (options.own.contains(std::string(kTruthOption.name))) {
      truth_.emplace(true);
    }
  }

  // What is outstanding is the world's to know: here are names, caveats, and what became of other
  // blocks.
  void on(const Event& event, const World& world) override;

  Report finish(const World& world, Span span) override;

 private:
  struct Seen {
    bool allocs_seen = false;
    bool frees_seen = false;
  };

  struct Outstanding {
    std::vector<const LiveBlock*> blocks;
    std::vector<const LiveBlock*> younger;  // than --older
  };

  void allocate(const LiveBlock* made, const World& world);
  bool is_left_out(const LiveBlock& page, const World& world);
  Outstanding outstanding(const World& world, Span span);
  std::vector<const LiveBlock*> take_slab_pages(std::vector<const LiveBlock*>& blocks,
                                                const World& world);
  std::vector<std::string> notes() const;

  LeakRows rows_;
  LeakRows slab_pages_;
  LeakOptions options_;
  CacheNames cache_names_;
  std::optional<SlabTruth> truth_;
  FieldNames gfp_flags_ = gfp_flag_names();
  LeftOut left_out_;  // pages that are not the kernel's
  LeakOrigins origins_;
  UserPages user_pages_;
  Seen slab_;
  Seen pages_;
  bool sampled_ = false;
};

void KernelLeaks::on(const Event& event, const World& world) {
  sampled_ = sampled_ || event.weight > 1;
  gfp_flags_.learn(*event.type);
  rows_.note_loss(world.last_loss_ns());
  if (truth_) {
    truth_->on(event);
  }
  if (std::holds_alternative<SlabFree>(event.payload)) {
    slab_.frees_seen = true;
    cache_names_.learn(event);
  } else if (std::holds_alternative<PageFree>(event.payload)) {
    pages_.frees_seen = true;
  } else if (const auto* slab = std::get_if<SlabAlloc>(&event.payload)) {
    slab_.allocs_seen = true;
    allocate(world.live().slabs().find(slab->ptr), world);
  } else if (const auto* page = std::get_if<PageAlloc>(&event.payload)) {
    pages_.allocs_seen = true;
    allocate(page->failed ? nullptr : world.live().pages().find(page->page), world);
  }
  for (const LiveBlock* gone : {event.freed, event.replaced}) {
    if (gone != nullptr && !is_left_out(*gone, world)) {
      rows_.free(*gone, event.time_ns, {gone->weight, gone->weight * gone->bytes});
    }
  }
}

// The key kind is of blocks alone.
void KernelLeaks::allocate(const LiveBlock* made, const World& world) {
  if (made != nullptr && !is_left_out(*made, world)) {
    rows_.allocate(*made, made->time_ns, {made->weight, made->weight * made->bytes});
  }
}

// The rows have no such pages.
bool KernelLeaks::is_left_out(const LiveBlock& page, const World& world) {
  if (page.kind != BlockKind::Page) {
    return false;
  }
  return (!options_.user_pages && user_pages_.has(page, gfp_flags_.names())) ||
         (slab_.allocs_seen && origins_.is_of_slab_cache(page, world));
}

KernelLeaks::Outstanding KernelLeaks::outstanding(const World& world, Span span) {
  Outstanding found;
  left_out_ = {};
  const auto look_at = [&](const LiveBlock& block) {
    const bool is_old = age_ns(block, span) >= options_.older_ns;
    if (!options_.tasks.accepts(world, block)) {
      return;
    }
    if (!options_.user_pages && user_pages_.has(block, gfp_flags_.names())) {
      left_out_ += {is_old ? 1U : 0U, is_old ? block.bytes : 0};
      return;
    }
    (is_old ? found.blocks : found.younger).push_back(&block);
  };
  world.live().slabs().for_each(look_at);
  world.live().pages().for_each(look_at);
  return found;
}

// They hold the objects that are listed: both together would count the same memory twice. Without
// events of objects they are all that is known.
std::vector<const LiveBlock*> KernelLeaks::take_slab_pages(std::vector<const LiveBlock*>& blocks,
                                                           const World& world) {
  if (!slab_.allocs_seen) {
    return {};
  }
  const auto first_page =
      std::stable_partition(blocks.begin(), blocks.end(), [&](const LiveBlock* block) {
        return !origins_.is_of_slab_cache(*block, world);
      });
  std::vector<const LiveBlock*> pages(first_page, blocks.end());
  blocks.erase(first_page, blocks.end());
  return pages;
}

std::vector<std::string> KernelLeaks::notes() const {
  std::vector<std::string> notes;
  const bool no_slab_frees = slab_.allocs_seen && !slab_.frees_seen;
  const bool no_page_frees = pages_.allocs_seen && !pages_.frees_seen;
  if (no_slab_frees || no_page_frees) {
    const char* what = !no_page_frees ? "slab objects" : !no_slab_frees ? "pages" : "memory";
    notes.push_back(
        fmt::format("the recording has no frees of {}: all count as outstanding", what));
  }
  if (sampled_) {
    notes.emplace_back(
        "only one in N events was sampled: figures cover the sampled blocks, and the frees of "
        "some of them were not sampled");
  }
  if (left_out_.count > 0) {
    notes.push_back(print_bytes(left_out_.bytes) +
                    " in pages of programs and of the page cache are left out: --user-pages lists "
                    "them");
  }
  return notes;
}

Report KernelLeaks::finish(const World& world, Span span) {
  const OriginContext context{
      {{{.world = world, .span = span, .gfp_flags = gfp_flags_.names()}}, cache_names_}, origins_};
  Outstanding found = outstanding(world, span);
  std::vector<const LiveBlock*> slab_pages = take_slab_pages(found.blocks, world);
  take_slab_pages(found.younger, world);
  rows_.note_loss(world.last_loss_ns());
  rows_.set(std::move(found.blocks), span);
  rows_.note_unlisted(found.younger);
  Report report{.view = "kleaks", .title = "kernel memory allocated and not freed"};
  report.inconclusive = !slab_.frees_seen && !pages_.frees_seen;
  // One in N frees is not enough, either.
  if (sampled_ || (!slab_.frees_seen && !pages_.frees_seen)) {
    rows_.leave_verdicts_out();
  }
  Table& table = rows_.add_to(report, context);
  report.caveats.notes = notes();
  if (rows_.key_index("origin") && table.key_count == 1) {
    add_parts(table, rows_.blocks(), context);
  }
  if (const auto column = rows_.key_index("cache")) {
    std::ranges::move(cache_names_.notes(world, table, *column),
                      std::back_inserter(report.caveats.notes));
  }
  if (options_.addresses) {
    Table& addresses = report.tables.emplace_back(rows_.address_table(context));
    addresses.note = "a page's address is its page frame number" +
                     (addresses.note.empty() ? "" : "; " + addresses.note);
  }
  if (!slab_pages.empty()) {
    slab_pages_.set(std::move(slab_pages), span);
    report.tables.push_back(slab_pages_.table(context));
    slab_pages_.clear();
    report.tables.back().title = "pages of slab caches, which hold objects of the first table";
  }
  if (truth_) {
    std::ranges::move(truth_->take(cache_names_, world, span), std::back_inserter(report.tables));
    std::ranges::copy(truth_->notes(), std::back_inserter(report.caveats.notes));
  }
  rows_.clear();
  return report;
}

Result<LeakOptions> parse_options(const ViewOptions& options) {
  auto older_ns = parse_older_ns(options);
  if (!older_ns.ok()) {
    return older_ns.take_error();
  }
  return LeakOptions{.older_ns = older_ns.value(),
                     .addresses = options.own.contains("addresses"),
                     .user_pages = options.own.contains("user-pages"),
                     .tasks = options.tasks,
                     .namer = options.namer};
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  const std::array own_keys = {block_kind_key, kCacheKey, origin_key};
  ViewOptions by_address;
  by_address.by.assign(kAddressKeys.begin(), kAddressKeys.end());
  return make_view<KernelLeaks>(KeySet::choose(options, kKeys, own_keys),
                                KeySet::choose(by_address, kKeys, own_keys),
                                parse_options(options),
                                options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "kernel memory that was allocated and not freed: by stack, count, bytes and age",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .report_of = ViewSpec::ReportOf::Moment,
    .needs_live_blocks = true,
    .make = make,
};

}  // namespace memtrace::kleaks_view
