#include "timeline/timeline_collector.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

namespace memtrace {
namespace {

constexpr std::size_t kMostMarks = 100;
constexpr std::size_t kMostLosses = 200;

struct SubjectLook {
  std::string_view name;
  bool has_level = false;
  std::array<Column, Timeline::kFigures> figures;
  std::vector<std::string> views;
};

// In the order of TimelineCollector::Subject. Every figure adds up.
const std::vector<SubjectLook>& subject_looks() {
  static const std::vector<SubjectLook> looks = {
      {"heap",
       true,
       {{{"bytes", Unit::Bytes}, {"allocs"}, {"freed", Unit::Bytes}}},
       {"heap", "malloc", "leaks"}},
      {"slab",
       true,
       {{{"bytes", Unit::Bytes}, {"allocs"}, {"freed", Unit::Bytes}}},
       {"slab", "kleaks"}},
      {"kmalloc",
       true,
       {{{"bytes", Unit::Bytes}, {"allocs"}, {"freed", Unit::Bytes}}},
       {"kmalloc"}},
      {"pages", true, {{{"bytes", Unit::Bytes}, {"allocs"}, {"freed", Unit::Bytes}}}, {"pages"}},
      {"page faults", false, {{{"count"}, {"major"}, {"time", Unit::Nanoseconds}}}, {"faults"}},
      {"page cache", false, {{{"cache_add"}, {"cache_del"}, {}}}, {"filepages"}},
      {"reclaim",
       false,
       {{{"time", Unit::Nanoseconds}, {"count"}, {"reclaimed"}}},
       {"reclaim", "vmscan"}},
      {"compaction",
       false,
       {{{"time", Unit::Nanoseconds}, {"count"}, {"migrated"}}},
       {"compaction"}},
  };
  return looks;
}

struct LaneLook {
  std::string_view name;
  Unit unit = Unit::Count;
  bool is_level = false;
};

// In the order of TimelineCollector::Lane.
constexpr auto kLaneLooks = std::to_array<LaneLook>({
    {"resident memory", Unit::Bytes, true},
    {"memory in swap", Unit::Bytes, true},
    {"page faults"},
    {"major faults"},
    {"faults served from swap"},
    {"pages written to swap"},
    {"pages reclaimed"},
    {"time in reclaim", Unit::Nanoseconds},
});

KeySet comm_key() {
  static constexpr auto kNames = std::to_array<std::string_view>({"comm"});
  return KeySet::choose({}, kNames).take();
}

bool is_within_reclaim(const Work& work) {
  constexpr auto kReclaims = std::to_array<WorkKind>({WorkKind::DirectReclaim,
                                                      WorkKind::MemcgReclaim,
                                                      WorkKind::SoftLimitReclaim,
                                                      WorkKind::NodeReclaim,
                                                      WorkKind::Kswapd});
  return std::ranges::any_of(kReclaims, [&work](WorkKind kind) { return work.is_within(kind); });
}

void join_slots(std::vector<std::optional<std::uint64_t>>& values, unsigned times, bool is_level) {
  std::vector<std::optional<std::uint64_t>> joined((values.size() >> times) + 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto& into = joined[i >> times];
    if (values[i]) {
      into = is_level ? *values[i] : into.value_or(0) + *values[i];
    }
  }
  values = std::move(joined);
}

Timeline::Amounts pages_of(const PageCacheChange& change, std::uint64_t weight) {
  const std::uint64_t pages = weight << change.order;
  return change.added ? Timeline::Amounts{pages, 0, 0} : Timeline::Amounts{0, pages, 0};
}

// The end of kswapd's work does not say how many pages it has reclaimed.
std::uint64_t pages_of_kswapd(const LruShrink& shrink) {
  return shrink.part.kind == WorkKind::Kswapd ? shrink.reclaimed : 0;
}

using Losses = std::vector<Timeline::Loss>;

std::uint64_t gap_ns(const Timeline::Loss& before, const Timeline::Loss& after) {
  return after.first_ns > before.last_ns ? after.first_ns - before.last_ns : 0;
}

void merge_into(Timeline::Loss& into, const Timeline::Loss& loss) {
  into.last_ns = std::max(into.last_ns, loss.last_ns);
  into.count += loss.count;
}

void join_overlapping(Losses& losses) {
  std::ranges::sort(losses, {}, &Timeline::Loss::first_ns);
  Losses joined;
  for (const Timeline::Loss& loss : losses) {
    if (!joined.empty() && gap_ns(joined.back(), loss) == 0) {
      merge_into(joined.back(), loss);
    } else {
      joined.push_back(loss);
    }
  }
  losses = std::move(joined);
}

// Those that are closer to each other than most, two by two.
void join_neighbours(Losses& losses) {
  std::vector<std::uint64_t> gaps;
  for (std::size_t i = 1; i < losses.size(); ++i) {
    gaps.push_back(gap_ns(losses[i - 1], losses[i]));
  }
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::ranges::nth_element(gaps, middle);
  Losses joined;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    joined.push_back(losses[i]);
    if (i + 1 < losses.size() && gap_ns(losses[i], losses[i + 1]) <= *middle) {
      merge_into(joined.back(), losses[++i]);
    }
  }
  losses = std::move(joined);
}

void thin_out(Losses& losses) {
  join_overlapping(losses);
  while (losses.size() > kMostLosses) {
    join_neighbours(losses);
  }
}

void name_stacks_of(const Timeline::Subject& subject, Namer& namer, Timeline& timeline) {
  for (const Timeline::Source& source : subject.sources) {
    if (source.stack.valid()) {
      timeline.stacks.try_emplace(source.stack, namer.stack(source.stack));
    }
  }
}

}  // namespace

TimelineCollector::TimelineCollector()
    : faults_(comm_key(), [this](const Fault& fault) { on_fault(fault); }) {
  static_assert(kLaneLooks.size() == kLanes);
  faults_.keep_stacks();
}

std::uint32_t TimelineCollector::slot_of(std::uint64_t time_ns) {
  if (!has_begun_) {
    has_begun_ = true;
    slots_.start(time_ns);
  }
  last_ns_ = std::max(last_ns_, time_ns);
  if (const unsigned joined = slots_.reach(time_ns); joined > 0) {
    std::ranges::for_each(costs_, [joined](TimedCosts& costs) { costs.join(joined); });
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      join_slots(lanes_[lane], joined, kLaneLooks[lane].is_level);
    }
  }
  return slots_.slot_of(time_ns);
}

void TimelineCollector::expect_until(std::uint64_t start_ns, std::uint64_t end_ns) {
  if (start_ns < end_ns && !has_begun_) {
    has_begun_ = true;
    slots_.start(start_ns);
    slots_.reach(end_ns);
  }
}

void TimelineCollector::add(Subject subject, const Event& event, const Timeline::Amounts& amounts) {
  costs_[static_cast<std::size_t>(subject)].add(
      {.comm = event.comm, .stack = event.stack}, slot_of(event.time_ns), amounts);
}

void TimelineCollector::add_to_lane(Lane lane, std::uint64_t time_ns, std::uint64_t amount) {
  const std::uint32_t slot = slot_of(time_ns);
  Values& values = lanes_[static_cast<std::size_t>(lane)];
  values.resize(std::max<std::size_t>(values.size(), slot + 1));
  values[slot] = values[slot].value_or(0) + amount;
}

void TimelineCollector::set_lane(Lane lane, std::uint64_t time_ns, std::uint64_t value) {
  const std::uint32_t slot = slot_of(time_ns);
  Values& values = lanes_[static_cast<std::size_t>(lane)];
  values.resize(std::max<std::size_t>(values.size(), slot + 1));
  values[slot] = value;
}

void TimelineCollector::on(const Event& event, const World& world) {
  const std::uint32_t slot = slot_of(event.time_ns);
  if (resident_slot_ && slot != *resident_slot_) {
    drop_ended(event.time_ns, world);  // once a slot: there may be thousands of address spaces
  }
  if (const auto* change = world.mapped_change()) {
    on_heap_mapping(*change, event.time_ns);
    return;
  }
  for (const LiveBlock* gone : {event.freed, event.replaced}) {
    if (gone != nullptr) {
      add_freed(*gone, event.time_ns);
    }
  }
  if (!faults_.on(event, world)) {
    on_payload(event, world);
  }
}

// Whose the block was: what was live of it was live until now.
void TimelineCollector::add_freed(const LiveBlock& block, std::uint64_t time_ns) {
  if (block.is_inherited) {
    return;
  }
  const auto add_to = [&](Subject subject) {
    costs_[static_cast<std::size_t>(subject)].add({.comm = block.comm, .stack = block.stack},
                                                  slot_of(time_ns),
                                                  {0, 0, block.weight * block.bytes});
  };
  switch (block.kind) {
    case BlockKind::Heap:
      add_to(Subject::Heap);
      break;
    case BlockKind::Page:
      add_to(Subject::Pages);
      break;
    case BlockKind::Kmalloc:
      add_to(Subject::Kmalloc);
      [[fallthrough]];
    case BlockKind::Cache:
      add_to(Subject::Slab);
      break;
    case BlockKind::PerCpu:  // in no slab cache
      break;
  }
}

void TimelineCollector::add_slab(const Event& event, const SlabAlloc& slab) {
  if (slab.cache == kPercpuCache) {
    return;
  }
  const Timeline::Amounts amounts = {event.weight * slab.bytes_alloc, event.weight, 0};
  add(Subject::Slab, event, amounts);
  if (slab.kmalloc) {
    add(Subject::Kmalloc, event, amounts);
  }
}

void TimelineCollector::on_heap_mapping(const World::MappedChange& change, std::uint64_t time_ns) {
  for (const MappedBlocks::Piece& piece : change.gone) {
    add_freed(piece.block, time_ns);
  }
  if (change.made) {
    const LiveBlock& made = *change.made;
    costs_[static_cast<std::size_t>(Subject::Heap)].add({.comm = made.comm, .stack = made.stack},
                                                        slot_of(time_ns),
                                                        {made.weight * made.bytes, made.weight, 0});
  }
}

void TimelineCollector::on_payload(const Event& event, const World& world) {
  const std::uint64_t weight = event.weight;
  const EventPayload& payload = event.payload;
  if (const auto* heap = std::get_if<HeapAlloc>(&payload); heap && heap->address != 0) {
    add(Subject::Heap, event, {weight * heap->bytes, weight, 0});
  } else if (const auto* slab = std::get_if<SlabAlloc>(&payload); slab && slab->ptr != 0) {
    add_slab(event, *slab);
  } else if (const auto* pages = std::get_if<PageAlloc>(&payload); pages && !pages->failed) {
    const std::uint64_t bytes = world.page_size_bytes() << pages->order;
    add(Subject::Pages, event, {weight * bytes, weight, 0});
  } else if (const auto* cache = std::get_if<PageCacheChange>(&payload)) {
    add(Subject::Cache, event, pages_of(*cache, weight));
  } else if (const auto* work = std::get_if<Work>(&payload)) {
    on_work(event, *work);
  } else if (const auto* stat = std::get_if<RssStat>(&payload)) {
    on_resident(event, *stat, world);
  } else if (const auto* victim = std::get_if<OomVictim>(&payload)) {
    on_victim(event, *victim, world);
  } else if (const auto* write = std::get_if<ReclaimWrite>(&payload)) {
    add_to_lane(Lane::SwapOuts, event.time_ns, write->of_file ? 0 : weight * write->pages);
  } else if (const auto* shrink = std::get_if<LruShrink>(&payload)) {
    add_to_lane(Lane::Reclaimed, event.time_ns, weight * pages_of_kswapd(*shrink));
  }
}

// The same faults as in the view faults: those of user code. A fault that was counted when it was
// under way adds only what its end shows.
void TimelineCollector::on_fault(const Fault& fault) {
  if (is_of_kernel(fault.entry)) {
    return;
  }
  const bool is_major = fault.end == FaultEnd::Major;
  const std::uint64_t major = is_major ? fault.weight : 0;
  costs_[static_cast<std::size_t>(Subject::Faults)].add(
      {.comm = fault.comm, .stack = fault.stack},
      slot_of(fault.time_ns),
      {fault.count, major, fault.weight * fault.latency_ns.value_or(0)});
  add_to_lane(Lane::Faults, fault.time_ns, fault.count);
  add_to_lane(Lane::MajorFaults, fault.time_ns, major);
  const bool is_of_swap = fault.place.is_anonymous() || fault.place.kind == PlaceKind::SharedMemory;
  add_to_lane(Lane::SwapIns, fault.time_ns, is_of_swap ? major : 0);
}

void TimelineCollector::on_work(const Event& event, const Work& work) {
  const std::uint64_t weight = event.weight;
  const WorkKind kind = work.begin.kind;
  if (kind == WorkKind::Compaction) {
    add(Subject::Compaction, event, {weight * work.duration_ns, weight, weight * work.migrated});
  } else if (is_reclaim(kind) && !is_within_reclaim(work)) {
    const std::uint64_t pages = work.end.has_pages ? weight * work.end.pages : 0;
    add(Subject::Reclaim, event, {weight * work.duration_ns, weight, pages});
    add_to_lane(Lane::Reclaimed, event.time_ns, pages);
    add_to_lane(Lane::ReclaimTime, event.time_ns, weight * work.duration_ns);
  }
}

void TimelineCollector::on_resident(const Event& event, const RssStat& stat, const World& world) {
  if (stat.member == RssMember::Other) {
    return;
  }
  resident_.apply(event.pid, stat, world.processes());
  resident_slot_ = resident_slot_.value_or(0);
  if (stat.member == RssMember::Swap) {
    set_lane(Lane::Swapped, event.time_ns, resident_.in_swap_bytes());
  } else {
    set_lane(Lane::Resident, event.time_ns, resident_.in_memory_bytes());
  }
}

void TimelineCollector::drop_ended(std::uint64_t time_ns, const World& world) {
  resident_slot_ = slot_of(time_ns);
  if (resident_.drop_ended(world.processes())) {
    set_lane(Lane::Resident, time_ns, resident_.in_memory_bytes());
    set_lane(Lane::Swapped, time_ns, resident_.in_swap_bytes());
  }
}

void TimelineCollector::on_victim(const Event& event, const OomVictim& victim, const World& world) {
  if (marks_.size() < kMostMarks) {
    const std::string_view comm = world.strings().at(event.label);
    marks_.push_back(
        {event.time_ns,
         fmt::format(
             "OOM kill: {} ({})", comm.empty() ? std::string_view("process") : comm, victim.pid)});
  }
}

void TimelineCollector::add_loss(const Timeline::Loss& loss) {
  losses_.push_back(loss);
  if (losses_.size() > 2 * kMostLosses) {
    thin_out(losses_);
  }
}

std::vector<Timeline::Lane> TimelineCollector::lanes() const {
  std::vector<Timeline::Lane> lanes;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const bool has_any =
        std::ranges::any_of(lanes_[i], [](const auto& value) { return value.value_or(0) > 0; });
    if (has_any) {
      lanes.push_back({.name = std::string(kLaneLooks[i].name),
                       .unit = kLaneLooks[i].unit,
                       .is_level = kLaneLooks[i].is_level,
                       .values = lanes_[i]});
      lanes.back().values.resize(slots_.slot_of(last_ns_) + 1);
    }
  }
  return lanes;
}

std::vector<Timeline::Subject> TimelineCollector::subjects(const World& world) const {
  std::vector<Timeline::Subject> subjects;
  for (std::size_t i = 0; i < kSubjects; ++i) {
    const SubjectLook& look = subject_looks()[i];
    if (costs_[i].empty()) {
      continue;
    }
    Timeline::Subject& subject = subjects.emplace_back();
    subject.name = look.name;
    subject.views = look.views;
    subject.has_level = look.has_level;
    std::ranges::copy_if(look.figures, std::back_inserter(subject.figures), [](const Column& one) {
      return !one.name.empty();
    });
    subject.sources = costs_[i].largest(
        [&world](StringId comm) { return std::string(world.strings().at(comm)); });
  }
  return subjects;
}

std::shared_ptr<Timeline> TimelineCollector::take(const World& world, Namer& namer) {
  faults_.report_open();
  if (!has_begun_) {
    return nullptr;
  }
  if (resident_slot_) {
    drop_ended(last_ns_, world);
  }
  auto timeline = std::make_shared<Timeline>();
  timeline->start_ns = slots_.start_ns();
  timeline->slot_ns = slots_.width_ns();
  timeline->slot_count = slots_.slot_of(last_ns_) + 1;
  timeline->subjects = subjects(world);
  timeline->lanes = lanes();
  timeline->marks = marks_;
  thin_out(losses_);
  timeline->losses = losses_;
  for (const Timeline::Subject& subject : timeline->subjects) {
    name_stacks_of(subject, namer, *timeline);
  }
  return timeline;
}

}  // namespace memtrace
