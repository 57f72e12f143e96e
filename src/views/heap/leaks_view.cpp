// leaks: blocks of user heaps that were allocated and are not freed.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "views/heap/caller_key.h"
#include "views/heap/heap_events.h"
#include "views/heap/kernel_memory.h"
#include "views/kit/make_view.h"
#include "views/leak/leak_rows.h"

namespace memtrace::leaks_view {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>(
    {"stack", "function", "caller", "comm", "pid", "tid", "size", "range"});
constexpr auto kAddressKeys = std::to_array<std::string_view>({"function", "comm", "pid", "stack"});
constexpr auto kOptions = std::to_array<ViewOption>({
    kOlderOption,
    kMinBytesOption,
    kMaxBytesOption,
    kHistOption,
    {"show-allocs", "", "list each block with its address, oldest first"},
    {"inherited", "", "also the copies of blocks that forked children inherited"},
});
constexpr auto kNeeds =
    with_kernel_memory(std::to_array<std::string_view>({kHeapCalls, kHeapReturns, kHeapFrees}));

struct LeakOptions {
  std::uint64_t older_ns = 0;
  SizeLimits sizes;
  bool show_allocs = false;
  bool inherited = false;
  TaskFilter tasks;
};

class HeapLeaks final : public View {
 public:
  HeapLeaks(KeySet keys, KeySet address_keys, LeakOptions leaks, const ViewOptions& options)
      : rows_(std::move(keys), std::move(address_keys), Judging::Yes, options),
        options_(std::move(leaks)) {}

  // What is outstanding is the world's to know: here is what became of other blocks.
  void on(const Event& event, const World& world) override;

  Report finish(const World& world, Span span) override;

  Result<> check(const std::deque<EventType>& types) override {
    probed_ = HeapProbed(types);
    return kDone;
  }

 private:
  struct Outstanding {
    std::vector<const LiveBlock*> blocks;
    std::vector<const LiveBlock*> younger;  // than --older
    LeftOut inherited;
  };

  void on_mapping(const Event& event, const World::MappedChange& change);
  void free(const LiveBlock& block, std::uint64_t time_ns);

  Outstanding outstanding(const World& world, Span span) const;
  std::vector<std::string> notes(const LeftOut& inherited) const;
  bool has_running(const World& world) const;
  void look_at_pages(const World& world);

  LeakRows rows_;
  LeakOptions options_;
  HeapProbed probed_;
};

void HeapLeaks::on(const Event& event, const World& world) {
  rows_.note_loss(world.last_loss_ns());
  if (const auto* change = world.mapped_change()) {
    on_mapping(event, *change);
    return;
  }
  for (const LiveBlock* gone : {event.freed, event.replaced}) {
    if (gone != nullptr && options_.sizes.accept(gone->bytes)) {
      free(*gone, event.time_ns);
    }
  }
  const auto* alloc = std::get_if<HeapAlloc>(&event.payload);
  if (alloc != nullptr && alloc->address != 0 && options_.sizes.accept(alloc->bytes)) {
    rows_.allocate(event, event.time_ns, {event.weight, event.weight * alloc->bytes});
  }
}

void HeapLeaks::on_mapping(const Event& event, const World::MappedChange& change) {
  for (const MappedBlocks::Piece& piece : change.gone) {
    if (!piece.block.is_inherited && options_.sizes.accept(piece.block.bytes_req)) {
      const std::uint64_t count = piece.is_last ? piece.block.weight : 0;
      rows_.free(piece.block, event.time_ns, {count, piece.block.weight * piece.block.bytes});
    }
  }
  if (change.made && options_.sizes.accept(change.made->bytes_req)) {
    const LiveBlock& made = *change.made;
    rows_.allocate(made, event.time_ns, {made.weight, made.weight * made.bytes});
  }
}

// A copy that a child inherited was not allocated here.
void HeapLeaks::free(const LiveBlock& block, std::uint64_t time_ns) {
  if (!block.is_inherited) {
    rows_.free(block, time_ns, {block.weight, block.weight * block.bytes});
  }
}

HeapLeaks::Outstanding HeapLeaks::outstanding(const World& world, Span span) const {
  Outstanding found;
  const auto look_at = [&](const LiveBlock& block) {
    const bool is_old = age_ns(block, span) >= options_.older_ns;
    if (!options_.sizes.accept(block.bytes) || !options_.tasks.accepts(world, block)) {
      return;
    }
    if (block.is_inherited && !options_.inherited) {
      found.inherited += {is_old ? block.weight : 0, is_old ? block.weight * block.bytes : 0};
      return;
    }
    (is_old ? found.blocks : found.younger).push_back(&block);
  };
  world.heap().for_each(look_at);
  world.mapped().for_each(look_at);
  return found;
}

std::vector<std::string> HeapLeaks::notes(const LeftOut& inherited) const {
  std::vector<std::string> notes;
  if (probed_.calls && !probed_.returns) {
    notes.emplace_back(
        "the returns of allocator functions were not recorded, so no block is known: record with "
        "--for leaks");
  }
  if (probed_.returns && !probed_.frees) {
    notes.emplace_back("the recording has no frees: all blocks count as outstanding");
  }
  if (inherited.count > 0) {
    notes.push_back(counted(inherited.count, "more block of ", "more blocks of ") +
                    counted(inherited.bytes, "byte", "bytes") +
                    (inherited.count == 1
                         ? " is a copy of its parent's block in a forked child"
                         : " are copies of their parents' blocks in forked children") +
                    "; --inherited shows them");
  }
  return notes;
}

// A block that is not known, as those from before the recording, may be the one that keeps a page.
void HeapLeaks::look_at_pages(const World& world) {
  std::vector<const LiveBlock*> all;
  bool is_sampled = false;
  world.heap().for_each([&](const LiveBlock& block) {
    is_sampled = is_sampled || block.weight > 1;
    all.push_back(&block);
  });
  const bool is_whole = world.unmatched_frees() * 100 <= all.size() && world.last_loss_ns() == 0;
  if (is_whole && !is_sampled && options_.sizes.accept_all()) {
    rows_.note_pages(all, world.page_size_bytes());
  }
}

bool HeapLeaks::has_running(const World& world) const {
  return std::ranges::any_of(rows_.blocks(), [&world](const LiveBlock* block) {
    const Process* process = world.processes().find(block->pid);
    return process != nullptr && !process->exited;
  });
}

Report HeapLeaks::finish(const World& world, Span span) {
  const CellContext context{.world = world, .span = span};
  Outstanding found = outstanding(world, span);
  rows_.note_loss(world.last_loss_ns());
  rows_.set(std::move(found.blocks), span);
  rows_.note_unlisted(found.younger);
  look_at_pages(world);
  Report report{.view = "leaks", .title = "heap memory allocated and not freed"};
  report.inconclusive = !probed_.returns || !probed_.frees;
  if (probed_.returns && !probed_.frees) {
    rows_.leave_verdicts_out();
  }
  Table& table = rows_.add_to(report, context);
  // Of a process that has ended it matters what it left, unless that is a leak.
  if (has_running(world) || rows_.has_leak()) {
    rows_.sort_by_growth(table);
  }
  report.caveats.notes = notes(found.inherited);
  if (options_.show_allocs) {
    report.tables.push_back(rows_.address_table(context));
  }
  add_kernel_memory(report, world, options_.tasks);
  rows_.clear();
  return report;
}

Result<LeakOptions> parse_options(const ViewOptions& options) {
  auto sizes = parse_size_limits(options);
  auto older_ns = parse_older_ns(options);
  if (!sizes.ok() || !older_ns.ok()) {
    return sizes.ok() ? older_ns.take_error() : sizes.take_error();
  }
  return LeakOptions{.older_ns = older_ns.value(),
                     .sizes = sizes.value(),
                     .show_allocs = options.own.contains("show-allocs"),
                     .inherited = options.own.contains("inherited"),
                     .tasks = options.tasks};
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  ViewOptions by_address;
  by_address.by.assign(kAddressKeys.begin(), kAddressKeys.end());
  return make_view<HeapLeaks>(choose_heap_keys(options, kKeys),
                              KeySet::choose(by_address, kKeys),
                              parse_options(options),
                              options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "heap memory that was allocated and not freed: by stack, count, bytes and age",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .report_of = ViewSpec::ReportOf::Moment,
    .needs_live_blocks = true,
    .of_programs = true,
    .handles = is_heap_type,
    .make = make,
};

}  // namespace memtrace::leaks_view
