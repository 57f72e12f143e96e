#include "state/world/kernel_work.h"

#include <algorithm>
#include <iterator>

namespace memtrace {
namespace {

using Open = KernelWork::Open;

// An object that either side does not report matches any.
bool is_pair(const WorkBegin& begin, const WorkEnd& end) {
  return begin.kind == end.kind &&
         (begin.object == end.object || begin.object == 0 || end.object == 0);
}

// A shrinker may free what another one then shrinks; nothing else runs inside of its own kind: the
// kernel marks the thread (PF_MEMALLOC) or asks first.
bool nests_in_itself(WorkKind kind) {
  return kind == WorkKind::SlabShrink || kind == WorkKind::Migration;
}

}  // namespace

void KernelWork::begin(const Event& event, const WorkBegin& begin) {
  std::vector<Open>& works = open_[event.tid];
  const auto same =
      std::ranges::find_if(works, [&](const Open& open) { return open.begin.kind == begin.kind; });
  if (same != works.end() && begin.kind == WorkKind::Kswapd) {
    return;  // it wakes early from a nap that has no event: it counts as awake
  }
  if (same != works.end() && !nests_in_itself(begin.kind)) {
    abandon({same, works.end()});
    works.erase(same, works.end());
  }
  Open& open = works.emplace_back();
  open.begin = begin;
  open.begun_ns = event.time_ns;
  open.pid = event.pid;
  open.comm = event.comm;
  if (begin.kind == WorkKind::Compaction) {
    take_announced(event.tid, open.begin);
  }
}

// An allocation compacts zone after zone: what it said holds for all of them.
void KernelWork::take_announced(std::uint32_t tid, WorkBegin& begin) {
  const auto announced = announced_.find(tid);
  if (announced == announced_.end()) {
    return;
  }
  Announced& known = announced->second;
  begin.node = known.goal.node;
  begin.zone = known.goal.zone;
  begin.order = known.goal.order >= 0 ? known.goal.order : known.attempt.order;
  begin.gfp = begin.order == known.attempt.order ? known.attempt.gfp : 0;
  known.goal = {};
}

Work KernelWork::end(const Event& event, const WorkEnd& end) {
  Work work;
  work.begin.kind = end.kind;
  work.end = end;
  note_migration(event.tid, end);
  const auto found = open_.find(event.tid);
  if (found == open_.end()) {
    return work;
  }
  std::vector<Open>& works = found->second;
  const auto innermost = std::ranges::find_if(
      works.rbegin(), works.rend(), [&](const Open& open) { return is_pair(open.begin, end); });
  if (innermost == works.rend()) {
    return work;
  }
  const auto place = std::prev(innermost.base());
  work.begin = place->begin;
  work.has_begin = true;
  work.begun_ns = place->begun_ns;
  work.duration_ns = event.time_ns - std::min(event.time_ns, place->begun_ns);
  work.migrated = place->migrated;
  work.put_back = place->put_back;
  work.failed = place->failed;
  for (auto outer = works.begin(); outer != place; ++outer) {
    work.within |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(outer->begin.kind));
  }
  abandon({std::next(place), works.end()});
  works.erase(place, works.end());
  if (works.empty()) {
    open_.erase(found);
  }
  return work;
}

Open* KernelWork::innermost_compaction(std::uint32_t tid) {
  const auto found = open_.find(tid);
  if (found == open_.end()) {
    return nullptr;
  }
  std::vector<Open>& works = found->second;
  const auto innermost = std::find_if(works.rbegin(), works.rend(), [](const Open& open) {
    return open.begin.kind == WorkKind::Compaction;
  });
  return innermost == works.rend() ? nullptr : &*innermost;
}

// /proc/sys/vm/compact_memory has order -1, and no allocation behind it.
void KernelWork::note(std::uint32_t tid, const CompactionGoal& goal) {
  Open* open = innermost_compaction(tid);
  if (open == nullptr) {
    announced_[tid].goal = goal;
    return;
  }
  open->begin.gfp = open->begin.order == goal.order ? open->begin.gfp : 0;
  open->begin.node = goal.node;
  open->begin.zone = goal.zone;
  open->begin.order = goal.order;
}

void KernelWork::note(std::uint32_t tid, const CompactionTry& attempt) {
  announced_[tid] = {.attempt = attempt, .goal = {}};
}

void KernelWork::note(std::uint32_t tid, const CompactionMoved& moved) {
  if (Open* open = innermost_compaction(tid)) {
    open->migrated += moved.migrated;
    open->put_back += moved.put_back;
  }
}

void KernelWork::note_migration(std::uint32_t tid, const WorkEnd& end) {
  Open* open = end.kind == WorkKind::Migration ? innermost_compaction(tid) : nullptr;
  if (open != nullptr) {
    open->failed += end.failed;
  }
}

WorkKind KernelWork::reclaim_of(std::uint32_t tid) const {
  const auto found = open_.find(tid);
  if (found == open_.end()) {
    return WorkKind::Other;
  }
  const std::vector<Open>& works = found->second;
  const auto innermost = std::find_if(
      works.rbegin(), works.rend(), [](const Open& open) { return is_reclaim(open.begin.kind); });
  return innermost == works.rend() ? WorkKind::Other : innermost->begin.kind;
}

bool KernelWork::is_compacting(std::uint32_t tid) const {
  const auto found = open_.find(tid);
  return found != open_.end() && std::ranges::any_of(found->second, [](const Open& open) {
           return open.begin.kind == WorkKind::Compaction;
         });
}

void KernelWork::abandon(std::span<const Open> works) {
  for (const Open& open : works) {
    ++abandoned_[static_cast<std::size_t>(open.begin.kind)];
  }
}

void KernelWork::forget(std::uint32_t tid) {
  announced_.erase(tid);
  if (const auto found = open_.find(tid); found != open_.end()) {
    abandon(found->second);
    open_.erase(found);
  }
}

void KernelWork::forget_all() {
  for (const auto& [tid, works] : open_) {
    abandon(works);
  }
  open_.clear();
  announced_.clear();
}

}  // namespace memtrace
