// path: one stack from the program's function through mmap or brk, the page fault and the page
// allocation down to reclaim: how much of the time and of the memory each layer takes.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/hash_map.h"
#include "base/units.h"
#include "report/layers.h"
#include "views/fault/fault_keys.h"
#include "views/fault/fault_pairing.h"
#include "views/kit/group_by.h"
#include "views/kit/make_view.h"
#include "views/kit/mapping_call_needs.h"
#include "views/path/heap_owners.h"
#include "views/path/layers.h"
#include "views/path/open_layers.h"

namespace memtrace::path_view {
namespace {

constexpr auto kOtherNeeds = std::to_array<std::string_view>({
    "exceptions:page_fault_user|page-faults",
    "exceptions:page_fault_kernel|",
    "minor-faults",
    "major-faults",
    "kmem:mm_page_alloc|",
    "vmscan:mm_vmscan_direct_reclaim_begin|kmem:mm_vmscan_direct_reclaim_begin|",
    "vmscan:mm_vmscan_direct_reclaim_end|kmem:mm_vmscan_direct_reclaim_end|",
    "vmscan:mm_vmscan_memcg_reclaim_begin|",
    "vmscan:mm_vmscan_memcg_reclaim_end|",
    "compaction:mm_compaction_begin|",
    "compaction:mm_compaction_end|",
    "syscalls:sys_enter_madvise|",
    "syscalls:sys_exit_madvise|",
});
constexpr auto kNeeds = joined(kOtherNeeds, kMappingCallNeeds);

// The stack is the entry's of a fault or a call; what happens within has the same.
constexpr auto kParts = std::to_array<EventNarrowing>({
    {.event = "minor-faults", .stacks = EventNarrowing::Stacks::None},
    {.event = "major-faults", .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:mm_page_alloc", .stacks = EventNarrowing::Stacks::None},
});

constexpr auto kKeys =
    std::to_array<std::string_view>({"stack", "layer", "comm", "pid", "tid", "cpu"});
constexpr ViewOption kTouchersOption{
    "touchers", "", "faults on heap blocks count for the code that touched them, not for malloc"};
constexpr auto kOptions = std::to_array<ViewOption>({kTouchersOption});
constexpr auto kDefaultBy = std::to_array<std::string_view>({"stack", "layer"});

// Set when it is known: an event alone does not show in which layer it is.
constexpr auto kOwnKeys = std::to_array<KeySpec>({
    {.name = kLayerColumn,
     .unit = Unit::Text,
     .of = [](const Event&) { return std::uint64_t{0}; },
     .cell = [](std::uint64_t word,
                const CellContext&) { return Cell(LayerPath::of_word(word).text()); }},
});

constexpr auto kFigures = std::to_array<Figure<PathCost>>({
    figure<&PathCost::count>("count"),
    figure<&PathCost::time_ns>("time", Unit::Nanoseconds),
    figure<&PathCost::touched>("touched", Unit::Bytes),
    figure<&PathCost::allocated>("allocated", Unit::Bytes),
    figure<&PathCost::mapped>("mapped", Unit::Bytes),
    figure<&PathCost::reclaimed>("reclaimed", Unit::Bytes),
});

// The stack of the program that led into the kernel.
StackId user_part(StackId stack, const World& world) {
  const ModuleId kernel = world.modules().kernel();
  bool is_kernel = world.stack_part() == StackPart::Whole;
  while (is_kernel && stack.valid()) {
    world.stacks().walk(stack, [&](LocationId location) {
      is_kernel = world.stacks().location(location).module == kernel;
      return false;
    });
    stack = is_kernel ? world.stacks().outer(stack) : stack;
  }
  return stack;
}

class Paths final : public View {
 public:
  Paths(const KeySet& keys, const ViewOptions& options)
      : rows_(keys),
        pairing_(keys, [this](const Fault& fault) { on_fault(fault); }),
        page_bytes_(options.page_size_bytes) {
    pairing_.ignore_zero_pages();
    if (!options.own.contains(std::string(kTouchersOption.name)) &&
        rows_.keys().index_of("stack")) {
      owners_.emplace();
    }
  }

  Result<> check(const std::deque<EventType>& types) override;
  void on(const Event& event, const World& world) override;
  Report finish(const World& world, Span span) override;

 private:
  void on_fault(const Fault& fault);
  KeyWords keys_with_owner(const Fault& fault);
  void on_call(const Event& event, const SystemCallDone& done);
  void on_step(const Event& event, const InnerStep& step);
  std::uint64_t take_steps(std::uint32_t tid, KeyWords keys, Layer outer);
  void add(KeyWords keys, LayerPath path, const PathCost& cost);
  std::uint64_t mapped_bytes(const Event& event, const SystemCallDone& done);
  std::uint64_t touched_bytes(const Fault& fault) const;
  std::vector<std::string> notes(const World& world) const;

  GroupBy<PathCost> rows_;
  FaultPairing pairing_;
  OpenLayers open_;
  LayerSums layers_;
  const World* world_ = nullptr;                // of the event that is being looked at
  HashMap<std::uint32_t, std::uint64_t> tops_;  // by pid: where brk(2) has put the end
  std::uint64_t page_bytes_ = 0;
  std::uint64_t fault_ns_ = 0;
  std::optional<HeapOwners> owners_;  // of heap blocks, if faults on them are theirs
  std::uint64_t owned_faults_ = 0;
  bool has_reclaim_ = false;
  bool has_ends_ = false;  // of faults
};

Result<> Paths::check(const std::deque<EventType>& types) {
  pairing_.check(types);
  has_ends_ = std::ranges::any_of(types, [](const EventType& type) {
    return type.name == "minor-faults" || type.name == "major-faults";
  });
  has_reclaim_ = std::ranges::any_of(types, [](const EventType& type) {
    return type.name.ends_with(":mm_vmscan_direct_reclaim_end");
  });
  return kDone;
}

void Paths::add(KeyWords keys, LayerPath path, const PathCost& cost) {
  layers_.add(path, cost);
  if (const auto stack = rows_.keys().index_of("stack")) {
    const StackId whole{static_cast<std::uint32_t>(keys.words.at(*stack))};
    keys.words.at(*stack) = user_part(whole, *world_).value;
  }
  if (const auto layer = rows_.keys().index_of(kLayerColumn)) {
    keys.words.at(*layer) = path.word();
  }
  rows_.row_at(keys) += cost;
}

// What the thread did within a fault or a call that has ended now, and how long that took.
std::uint64_t Paths::take_steps(std::uint32_t tid, KeyWords keys, Layer outer) {
  std::uint64_t time_ns = 0;
  for (const InnerStep& step : open_.take(tid)) {
    if (step.work == WorkKind::Other) {
      add(keys, {outer, Layer::PageAlloc}, {.count = step.count, .allocated = step.bytes});
      continue;
    }
    add(keys,
        below(outer, step.work),
        {.count = step.count, .time_ns = step.time_ns, .reclaimed = step.bytes});
    time_ns += step.time_ns;
  }
  return time_ns;
}

std::uint64_t Paths::touched_bytes(const Fault& fault) const {
  if (fault.end == FaultEnd::Open && has_ends_) {
    return 0;  // it failed, or goes on
  }
  return fault.weight * std::max(fault.folio_bytes, page_bytes_);
}

// A fault on a heap block belongs to the call of malloc that made the block, not to the code that
// touches it first.
KeyWords Paths::keys_with_owner(const Fault& fault) {
  KeyWords keys = fault.keys;
  const StackId owner = owners_ ? owners_->owner_of(fault.pid, fault.entry.address) : StackId();
  if (owner.valid()) {
    keys.words.at(*rows_.keys().index_of("stack")) = owner.value;
    owned_faults_ += fault.count;
  }
  return keys;
}

void Paths::on_fault(const Fault& fault) {
  const KeyWords keys = keys_with_owner(fault);
  const Layer outer = is_of_kernel(fault.entry) ? Layer::KernelFault : Layer::Fault;
  LayerPath path{.outer = outer};
  if (fault.end == FaultEnd::Major) {
    path.middle = fault.place.is_anonymous() ? Layer::SwapIn : Layer::FileRead;
  }
  const std::uint64_t whole_ns = fault.latency_ns.value_or(0) * fault.weight;
  const std::uint64_t inner_ns = take_steps(fault.tid, keys, outer);
  fault_ns_ += whole_ns;
  add(keys,
      path,
      {.count = fault.count,
       .time_ns = whole_ns - std::min(whole_ns, inner_ns),
       .touched = touched_bytes(fault)});
}

// By a call that succeeded; the first brk(2) of a process only shows where the end is.
std::uint64_t Paths::mapped_bytes(const Event& event, const SystemCallDone& done) {
  const SystemCallArguments& argument = done.arguments;
  if (done.call == SystemCall::Brk) {
    const auto top = static_cast<std::uint64_t>(done.result);
    const auto known = tops_.find(event.pid);
    const std::uint64_t before = known == tops_.end() ? top : known->second;
    tops_[event.pid] = top;
    return top - std::min(top, before);
  }
  if (done.failed()) {
    return 0;
  }
  return done.call == SystemCall::Mmap     ? argument[1]
         : done.call == SystemCall::Mremap ? argument[2] - std::min(argument[1], argument[2])
                                           : 0;
}

void Paths::on_call(const Event& event, const SystemCallDone& done) {
  open_.leave(event.tid);
  const Layer outer = layer_of(done.call);
  if (outer == Layer::None) {
    return;
  }
  const KeyWords keys = rows_.keys().of(event);
  const std::uint64_t inner_ns = take_steps(event.tid, keys, outer);
  const std::uint64_t whole_ns = done.duration_ns * event.weight;
  add(keys,
      {.outer = outer},
      {.count = event.weight,
       .time_ns = whole_ns - std::min(whole_ns, inner_ns),
       .mapped = event.weight * mapped_bytes(event, done)});
}

void Paths::on_step(const Event& event, const InnerStep& step) {
  open_.add(event.tid, step);
  if (pairing_.newest(event.tid) == nullptr && !open_.is_in_call(event.tid)) {
    take_steps(event.tid, rows_.keys().of(event), Layer::Elsewhere);
  }
}

void Paths::on(const Event& event, const World& world) {
  world_ = &world;
  if (const auto* alloc = std::get_if<PageAlloc>(&event.payload)) {
    if (!alloc->failed) {
      on_step(event,
              {.count = event.weight, .bytes = event.weight * (page_bytes_ << alloc->order)});
    }
  } else if (const auto* work = std::get_if<Work>(&event.payload)) {
    // What is within another one is part of its time.
    const bool is_layer = below(Layer::Fault, work->end.kind).outer != Layer::None;
    if (is_layer && work->within == 0) {
      const bool frees = work->end.kind != WorkKind::Compaction;
      on_step(event,
              {.work = work->end.kind,
               .count = event.weight,
               .time_ns = work->duration_ns * event.weight,
               .bytes = frees ? work->end.pages * page_bytes_ * event.weight : 0});
    }
  } else if (std::holds_alternative<SystemCallEntry>(event.payload)) {
    open_.enter(event.tid);
  } else if (const auto* done = std::get_if<SystemCallDone>(&event.payload)) {
    on_call(event, *done);
  }
  if (owners_) {
    owners_->on(event);
  }
  pairing_.on(event, world);
}

std::vector<std::string> Paths::notes(const World& world) const {
  const FaultEvents& seen = pairing_.seen();
  std::vector<std::string> notes;
  if (seen.any() && !seen.ends) {
    notes.emplace_back(
        "how long faults took is not known: the recording has neither minor-faults nor "
        "major-faults");
  }
  if (!seen.page_allocs) {
    notes.emplace_back(
        "no page allocation was seen: kmem:mm_page_alloc was not recorded, or no "
        "page was allocated");
  }
  if (owned_faults_ > 0) {
    notes.push_back(counted(owned_faults_, "fault", "faults") +
                    " on blocks of the heap count for the stack of the call that allocated the "
                    "block; --touchers counts them for the code that touched it");
  }
  if (!has_reclaim_) {
    notes.emplace_back("direct reclaim was not recorded: its time is in that of the layer above");
  }
  if (seen.sampled) {
    notes.emplace_back(
        "only one in N events was sampled: what belongs together is seldom sampled "
        "together, so figures of layers inside of others are too small");
  }
  if (world.kernel_work().abandoned(WorkKind::DirectReclaim) > 0) {
    notes.emplace_back("some reclaim has a begin and no end: its time is in the layer above");
  }
  return notes;
}

Report Paths::finish(const World& world, Span span) {
  world_ = &world;
  pairing_.report_open();
  const CellContext context{.world = world, .span = span};
  Report report{.view = "path", .title = "memory from the program's functions down to reclaim"};
  const PathCost total = rows_.total();
  report.totals = {{"time", Unit::Nanoseconds, total.time_ns},
                   {"fault_time", Unit::Nanoseconds, fault_ns_},
                   {"touched", Unit::Bytes, total.touched},
                   {"allocated", Unit::Bytes, total.allocated},
                   {"mapped", Unit::Bytes, total.mapped},
                   {"reclaimed", Unit::Bytes, total.reclaimed}};
  Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
  table.weight = "time";
  sort_by(table, "time");
  report.tables.push_back(layers_.table());
  report.caveats.notes = notes(world);
  rows_.clear();
  layers_.clear();
  owned_faults_ = 0;
  fault_ns_ = 0;
  return report;
}

bool handles(const EventType& type) {
  const bool is_of_heap = !type.heap_function.empty();
  return is_of_heap || std::ranges::any_of(kNeeds, [&type](std::string_view need) {
           return ("|" + std::string(need) + "|").find("|" + type.name + "|") != std::string::npos;
         });
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Paths>(KeySet::choose(options, kKeys, kOwnKeys), options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "one stack from the program's function through the page fault down to reclaim",
    .needs = kNeeds,
    .keys = kKeys,
    .default_by = kDefaultBy,
    .options = kOptions,
    .needs_memory_map = true,
    .needs_call_stacks = true,
    .looks_at_stack_keys_only = true,
    .parts = kParts,
    .handles = handles,
    .rests_on = is_fault_event,
    .make = make,
};

}  // namespace memtrace::path_view
