// stalls: who made whom wait for memory: each wait, divided among those who took memory before it.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/hash_map.h"
#include "base/units.h"
#include "views/fault/fault_keys.h"
#include "views/fault/fault_needs.h"
#include "views/kit/make_view.h"
#include "views/kit/mapping_call_needs.h"
#include "views/reclaim/work_keys.h"
#include "views/stalls/dirtied_pages.h"
#include "views/stalls/stall_scopes.h"
#include "views/stalls/stall_tables.h"
#include "views/truth/folio_needs.h"
#include "views/truth/vmstat_check.h"

namespace memtrace::stalls_view {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>({"comm", "pid", "tid", "kind"});
constexpr auto kNeeds = std::to_array<std::string_view>({
    "kmem:mm_page_alloc",
    "kmem:mm_page_free|kmem:mm_page_free_direct",
    "vmscan:mm_vmscan_direct_reclaim_begin|kmem:mm_vmscan_direct_reclaim_begin",
    "vmscan:mm_vmscan_direct_reclaim_end|kmem:mm_vmscan_direct_reclaim_end",
    "vmscan:mm_vmscan_memcg_reclaim_begin|",
    "vmscan:mm_vmscan_memcg_reclaim_end|",
    "vmscan:mm_vmscan_node_reclaim_begin|",
    "vmscan:mm_vmscan_node_reclaim_end|",
    "vmscan:mm_vmscan_kswapd_wake|kmem:mm_vmscan_kswapd_wake|",
    "vmscan:mm_vmscan_kswapd_sleep|kmem:mm_vmscan_kswapd_sleep|",
    "vmscan:mm_vmscan_write_folio|vmscan:mm_vmscan_writepage|kmem:mm_vmscan_writepage|",
    "compaction:mm_compaction_begin|",
    "compaction:mm_compaction_end|",
    "writeback:writeback_dirty_folio|writeback:writeback_dirty_page|",
    "writeback:balance_dirty_pages|",
    "exceptions:page_fault_user|page-faults|",
    "exceptions:page_fault_kernel|",
    "major-faults|",
});
constexpr auto kAllNeeds = joined(kNeeds, kFolioNeeds);

// Who did it is all that is asked.
constexpr auto kStackParts = std::to_array<EventNarrowing>({
    {.event = "kmem:mm_page_alloc", .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:mm_page_free", .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:mm_page_free_direct", .stacks = EventNarrowing::Stacks::None},
    {.event = "writeback:writeback_dirty_folio", .stacks = EventNarrowing::Stacks::None},
    {.event = "writeback:writeback_dirty_page", .stacks = EventNarrowing::Stacks::None},
    {.event = "exceptions:page_fault_user", .stacks = EventNarrowing::Stacks::None},
    {.event = "exceptions:page_fault_kernel", .stacks = EventNarrowing::Stacks::None},
    {.event = "page-faults", .stacks = EventNarrowing::Stacks::None},
    {.event = "major-faults", .stacks = EventNarrowing::Stacks::None},
});
constexpr auto kParts = joined(kStackParts, kFolioParts);
constexpr ViewOption kBefore = {
    "before", "DURATION", "count what was allocated this long before a stall ended; 1s"};
constexpr auto kOptions = std::to_array<ViewOption>({kBefore});
constexpr std::uint64_t kDefaultBeforeNs = 1'000'000'000;
constexpr std::size_t kMostActors = 65'536;  // that are kept from one interval to the next: 10 MB
constexpr std::size_t kMostSideKeys = 2;     // each is there twice, and kind may be one more

// Only the outermost one is a wait of its own.
constexpr auto kStallWorks = std::to_array<WorkKind>(
    {WorkKind::DirectReclaim, WorkKind::MemcgReclaim, WorkKind::NodeReclaim, WorkKind::Compaction});

StallKind kind_of(WorkKind kind) {
  return kind == WorkKind::MemcgReclaim ? StallKind::Cgroup
         : kind == WorkKind::Compaction ? StallKind::Compaction
                                        : StallKind::Direct;
}

bool is_part_of_another(const Work& work) {
  return work.is_within(WorkKind::Kswapd) ||
         std::ranges::any_of(kStallWorks, [&](WorkKind kind) { return work.is_within(kind); });
}

class Stalls final : public View {
 public:
  Stalls(StallKeys keys, std::uint64_t before_ns)
      : keys_(std::move(keys)),
        causes_(before_ns,
                [this](std::uint32_t scope, std::uint32_t actor) {
                  return scopes_.contains(scope, actors_.at(actor).identity, world_->identities());
                }),
        pairing_(keys_.sides,
                 [this](const Fault& fault) {
                   if (fault.end == FaultEnd::Major) {
                     ended_fault_ = fault;
                   }
                 }),
        losses_(kStallWorks) {
    pairing_.ignore_zero_pages();
  }

  Result<> check(const std::deque<EventType>& types) override;
  void on(const Event& event, const World& world) override;
  Report finish(const World& world, Span span) override;

 private:
  // Time that a thread lost to reclaim in the page fault that it is in: not to be counted twice.
  struct WithinFault {
    std::uint64_t fault_ns = 0;  // when the fault began
    double time_ns = 0;
  };

  struct Seen {
    bool allocs = false;
    bool dirtied = false;
    bool memcg = false;
    bool compaction = false;
    bool pauses = false;
    bool pageouts = false;
    bool sampled = false;
    bool fault_begins = false;
    bool fault_ends = false;
  };

  std::uint32_t actor_of(const Event& event);
  void on_work(const Event& event, const Work& work);
  void on_fault_end(const Event& event, const Fault& fault);
  void on_page(const Event& event);
  void on_file_page(const Event& event);
  void on_balance(const Event& event, const DirtyBalance& balance);
  void add_dirtied(std::uint32_t actor, std::uint64_t pages);
  void add_stall(StallKind kind, std::uint32_t victim, std::uint32_t scope, double time_ns);
  std::uint32_t full_cgroup_at(const Event& event);
  void add_awake(const KernelWork::Open& work, std::uint64_t until_ns);
  void add_kswapd(std::uint64_t until_ns);
  void begin_interval();
  std::vector<std::string> notes(const World& world);
  void check_sums(const World& world, Report& report) const;

  StallKeys keys_;
  StallActors actors_;
  StallScopes scopes_;
  const World* world_ = nullptr;  // of the event that is being looked at
  StallCauses causes_;
  DirtiedPages dirtied_;
  FaultPairing pairing_;
  std::optional<Fault> ended_fault_;
  std::unordered_map<std::uint32_t, WithinFault> within_faults_;  // by tid
  HashMap<std::uint32_t, std::uint32_t> full_cgroups_;            // scope by identity
  std::vector<ActorUse> uses_;                                    // by actor
  std::vector<VictimUse> victims_;
  std::uint64_t kswapd_until_ns_ = 0;  // its work until then is counted
  PairLosses losses_;
  Seen seen_;
};

Result<> Stalls::check(const std::deque<EventType>& types) {
  pairing_.check(types);
  for (const EventType& type : types) {
    seen_.allocs = seen_.allocs || type.name == "kmem:mm_page_alloc";
    seen_.dirtied = seen_.dirtied || type.name.starts_with("writeback:writeback_dirty_");
    seen_.memcg = seen_.memcg || type.name == "vmscan:mm_vmscan_memcg_reclaim_end";
    seen_.compaction = seen_.compaction || type.name == "compaction:mm_compaction_end";
    seen_.pauses = seen_.pauses || type.name == "writeback:balance_dirty_pages";
    seen_.fault_begins =
        seen_.fault_begins || (is_fault_event(type) && type.name != "major-faults");
    seen_.fault_ends = seen_.fault_ends || type.name == "major-faults";
    seen_.pageouts = seen_.pageouts || type.name.find(":mm_vmscan_write") != std::string::npos;
  }
  return kDone;
}

std::uint32_t Stalls::actor_of(const Event& event) {
  const std::uint32_t actor =
      actors_.number_of({.keys = keys_.sides.of(event), .identity = event.identity});
  if (actor >= uses_.size()) {
    uses_.resize(actor + 1);
    victims_.resize(actor + 1);
  }
  return actor;
}

void Stalls::add_stall(StallKind kind, std::uint32_t victim, std::uint32_t scope, double time_ns) {
  causes_.add({.kind = kind, .victim = victim, .scope = scope, .time_ns = time_ns});
  VictimUse& use = victims_[victim];
  ++use.stalls;
  use.longest_ns = std::max(use.longest_ns, static_cast<std::uint64_t>(time_ns));
}

// The kernel's events do not say which cgroup is at its limit: /proc said, when the event came. Of
// more reclaims than /proc is read for, it is that of the last one of the same cgroup, or the
// process's own.
std::uint32_t Stalls::full_cgroup_at(const Event& event) {
  const IdentityTable& identities = world_->identities();
  const Observation* seen = world_->observations().find("reclaim", event.time_ns, event.tid);
  const std::string* path = seen == nullptr ? nullptr : seen->facts.text("full_cgroup");
  if (path != nullptr) {
    return full_cgroups_[event.identity.value] = scopes_.of(*path);
  }
  const auto known = full_cgroups_.find(event.identity.value);
  if (known != full_cgroups_.end()) {
    return known->second;
  }
  return identities.knows_cgroup(event.identity) ? scopes_.of(identities.cgroup(event.identity))
                                                 : StallScopes::kMachine;
}

void Stalls::on_work(const Event& event, const Work& work) {
  if (work.end.kind == WorkKind::Kswapd && work.has_begin) {
    const std::uint64_t begun_ns = std::max(work.begun_ns, kswapd_until_ns_);
    const auto time_ns = static_cast<double>(event.time_ns - std::min(begun_ns, event.time_ns));
    causes_.add({.kind = StallKind::Background, .time_ns = time_ns});
  }
  if (std::ranges::find(kStallWorks, work.end.kind) == kStallWorks.end() ||
      is_part_of_another(work) || !losses_.take(work, event.weight)) {
    return;
  }
  const auto time_ns = static_cast<double>(work.duration_ns * event.weight);
  const StallKind kind = kind_of(work.end.kind);
  // The thread that compacts in the background (mm/compaction.c) holds nobody up.
  if (event.comm.valid() && world_->strings().at(event.comm).starts_with("kcompactd")) {
    causes_.add({.kind = StallKind::Background, .time_ns = time_ns});
    return;
  }
  add_stall(kind,
            actor_of(event),
            kind == StallKind::Cgroup ? full_cgroup_at(event) : StallScopes::kMachine,
            time_ns);
  if (const Fault* fault = pairing_.newest(event.tid)) {
    WithinFault& within = within_faults_[event.tid];
    within.time_ns = within.fault_ns == fault->time_ns ? within.time_ns + time_ns : time_ns;
    within.fault_ns = fault->time_ns;
  }
}

// A major fault on memory that no file has is a swap-in.
void Stalls::on_fault_end(const Event& event, const Fault& fault) {
  double waited_ns = static_cast<double>(fault.latency_ns.value_or(0) * fault.weight);
  const auto within = within_faults_.find(fault.tid);
  if (within != within_faults_.end()) {
    waited_ns -= within->second.fault_ns == fault.time_ns ? within->second.time_ns : 0;
    within_faults_.erase(within);
  }
  const bool of_swap = fault.place.is_anonymous() || fault.place.kind == PlaceKind::SharedMemory;
  if (of_swap && fault.latency_ns && waited_ns > 0) {
    add_stall(StallKind::SwapIn, actor_of(event), StallScopes::kMachine, waited_ns);
  }
}

void Stalls::on_page(const Event& event) {
  if (const auto* alloc = std::get_if<PageAlloc>(&event.payload); alloc != nullptr) {
    if (!alloc->failed) {
      const std::uint32_t actor = actor_of(event);
      const std::uint64_t pages = event.weight << alloc->order;
      uses_[actor].allocated += pages;
      causes_.window().allocate(actor, alloc->page, pages);
    }
    return;
  }
  const auto* free = std::get_if<PageFree>(&event.payload);
  if (free == nullptr || world_->kernel_work().reclaim_of(event.tid) != WorkKind::Other ||
      world_->kernel_work().is_compacting(event.tid)) {
    return;
  }
  const std::uint64_t pages = event.weight << free->order;
  if (const auto owner = causes_.window().give_back(free->page, pages)) {
    uses_[*owner].given_back += pages;
  }
}

void Stalls::add_dirtied(std::uint32_t actor, std::uint64_t pages) {
  uses_[actor].dirtied += pages;
  causes_.window().dirty(actor, pages);
}

void Stalls::on_balance(const Event& event, const DirtyBalance& balance) {
  const std::uint32_t actor = actor_of(event);
  add_dirtied(actor, event.weight * dirtied_.look_at(event.tid, balance.dirtied_pages));
  if (balance.pause_ns > 0) {
    add_stall(StallKind::Throttled,
              actor,
              StallScopes::kMachine,
              static_cast<double>(balance.pause_ns * event.weight));
  }
}

void Stalls::on_file_page(const Event& event) {
  if (const auto* dirtied = std::get_if<PageDirtied>(&event.payload)) {
    add_dirtied(actor_of(event), event.weight * dirtied->pages);
    dirtied_.add_folio(event.tid, dirtied->pages);
  } else if (const auto* balance = std::get_if<DirtyBalance>(&event.payload)) {
    on_balance(event, *balance);
  } else if (const auto* write = std::get_if<ReclaimWrite>(&event.payload)) {
    const bool of_cgroup = write->part.kind == WorkKind::MemcgReclaim;
    if (!write->of_file) {
      causes_.add_evicted(of_cgroup ? full_cgroup_at(event) : StallScopes::kMachine,
                          write->pages * event.weight);
    }
  }
}

void Stalls::add_awake(const KernelWork::Open& work, std::uint64_t until_ns) {
  const std::uint64_t begun_ns = std::max(work.begun_ns, kswapd_until_ns_);
  if (work.begin.kind == WorkKind::Kswapd && begun_ns < until_ns) {
    causes_.add(
        {.kind = StallKind::Background, .time_ns = static_cast<double>(until_ns - begun_ns)});
  }
}

// It may be awake for minutes: its time is divided slot by slot.
void Stalls::add_kswapd(std::uint64_t until_ns) {
  for (const auto& [tid, works] : world_->kernel_work().open()) {
    for (const KernelWork::Open& work : works) {
      add_awake(work, until_ns);
    }
  }
  kswapd_until_ns_ = until_ns;
}

void Stalls::on(const Event& event, const World& world) {
  world_ = &world;
  if (causes_.window().is_behind(event.time_ns)) {
    add_kswapd(event.time_ns);
    causes_.move_to(event.time_ns);
  }
  seen_.sampled = seen_.sampled || event.weight > 1;
  ended_fault_.reset();
  const bool is_fault = pairing_.on(event, world);
  if (ended_fault_) {
    on_fault_end(event, *ended_fault_);
  }
  if (is_fault) {
    return;
  }
  if (const auto* work = std::get_if<Work>(&event.payload)) {
    on_work(event, *work);
  } else {
    on_page(event);
    on_file_page(event);
  }
}

std::vector<std::string> Stalls::notes(const World& world) {
  std::vector<std::string> notes = losses_.notes(world);
  const auto add = [&notes](bool is_missing, const char* note) {
    if (is_missing) {
      notes.emplace_back(note);
    }
  };
  add(!seen_.allocs,
      "who allocated is not known: the recording lacks kmem:mm_page_alloc, so no stall has a "
      "cause");
  add(!seen_.memcg,
      "reclaim of memory cgroups was not recorded: this kernel has no event for it, or it was not "
      "asked for");
  add(!seen_.compaction,
      "the time of compaction is not known: the recording lacks compaction:mm_compaction_end");
  add(!seen_.pauses,
      "who had to wait because of dirty pages is not known: the recording lacks "
      "writeback:balance_dirty_pages");
  add(!seen_.fault_begins || !seen_.fault_ends || !knows_places(world),
      "swap-ins are not known: the recording lacks page faults or mappings");
  add(!seen_.pageouts,
      "who made pages go to swap is not known: the recording lacks vmscan:mm_vmscan_write_folio "
      "(before 5.18: mm_vmscan_writepage)");
  add(seen_.sampled, "only one in N events was sampled: begin and end are seldom both sampled");
  if (causes_.window().forgotten() > 0) {
    notes.push_back(print_count(causes_.window().forgotten()) +
                    " blocks were allocated faster than their frees can be followed: they count as "
                    "kept");
  }
  return notes;
}

// A live view by process may run for weeks.
void Stalls::begin_interval() {
  causes_.clear_caused();
  if (actors_.size() > kMostActors) {
    causes_.forget_actors();
    actors_ = {};
    full_cgroups_.clear();
  }
  uses_.assign(actors_.size(), {});
  victims_.assign(actors_.size(), {});
}

void Stalls::check_sums(const World& world, Report& report) const {
  ActorUse all;
  for (const ActorUse& use : uses_) {
    all.allocated += use.allocated;
    all.dirtied += use.dirtied;
  }
  VmstatCheck check(world);
  if (seen_.allocs) {
    check.add(allocated_pages(all.allocated));
  }
  if (seen_.dirtied) {
    check.add(dirtied_pages(all.dirtied));
  }
  check.add_to(report);
}

Report Stalls::finish(const World& world, Span span) {
  world_ = &world;
  add_kswapd(span.end_ns);
  causes_.settle();
  const CellContext context{.world = world, .span = span};
  const StallTables tables(keys_, actors_, causes_, context);
  Report report{.view = "stalls", .title = "who made whom wait for memory"};
  double time_ns = 0;
  double background_ns = 0;
  for (const auto& [cause, caused_ns] : causes_.caused()) {
    (cause.kind == StallKind::Background ? background_ns : time_ns) += caused_ns;
  }
  std::uint64_t stalls = 0;
  for (const VictimUse& victim : victims_) {
    stalls += victim.stalls;
  }
  report.totals = {{"stalls", Unit::Count, stalls},
                   {"time_ns", Unit::Nanoseconds, static_cast<std::uint64_t>(time_ns)},
                   {"background_ns", Unit::Nanoseconds, static_cast<std::uint64_t>(background_ns)}};
  report.inconclusive = !seen_.allocs || stalls == 0;
  report.nothing_happened = seen_.allocs;
  report.tables = {tables.causes(), tables.victims(victims_), tables.aggressors(uses_)};
  if (Table matrix = tables.matrix(); !matrix.rows.empty()) {
    report.tables.push_back(std::move(matrix));
  }
  report.caveats.notes = notes(world);
  check_sums(world, report);
  begin_interval();
  return report;
}

Result<StallKeys> choose_keys(const ViewOptions& options) {
  ViewOptions sides = options;
  const auto kinds = std::erase(sides.by, "kind");
  if (sides.by.size() > kMostSideKeys) {
    return Error{.message = "--by: at most two keys and kind, as each is there twice",
                 .hint = "for example --by comm,cgroup",
                 .kind = ErrorKind::Usage};
  }
  auto keys = KeySet::choose(sides, kKeys);
  if (!keys.ok()) {
    return keys.take_error();
  }
  return StallKeys{.sides = keys.take(), .has_kind = kinds > 0};
}

Result<std::uint64_t> read_before(const ViewOptions& options) {
  const auto before = options.own.find(std::string(kBefore.name));
  if (before == options.own.end()) {
    return kDefaultBeforeNs;
  }
  const auto before_ns = parse_duration_ns(before->second);
  if (!before_ns || *before_ns == 0) {
    return Error{.message = "--before " + before->second + ": not a duration",
                 .hint = "give seconds (5, 0.5) or a unit (200ms, 3s, 2m)",
                 .kind = ErrorKind::Usage};
  }
  return *before_ns;
}

// Who waited. Who allocates is of no use without.
bool shows_a_wait(const EventType& type) {
  return type.name.ends_with("_reclaim_end") || type.name == "compaction:mm_compaction_end" ||
         type.name == "writeback:balance_dirty_pages" || type.name == "major-faults";
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Stalls>(choose_keys(options), read_before(options));
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "who made whom wait for memory: reclaim, compaction, swap-in, dirty pages",
    .needs = kAllNeeds,
    .keys = kKeys,
    .options = kOptions,
    .needs_memory_map = true,
    .needs_promptness = true,
    .needs_identities = true,
    .parts = kParts,
    .rests_on = shows_a_wait,
    .make = make,
};

}  // namespace memtrace::stalls_view
