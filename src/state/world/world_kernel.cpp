// The world's part in the kernel's own work on memory: begins and ends become whole works, and
// texts that payloads borrow from their sample become ids.
#include "state/world/world.h"

namespace memtrace {

// A function's entry is no return address: the byte before it is another function's.
LocationId World::intern_kernel_function(std::uint64_t avma) {
  if (avma == 0) {
    return {};
  }
  const auto [known, is_new] = kernel_functions_.try_emplace(avma);
  if (is_new) {
    known.value() = stacks_.intern(CodeLocation{modules_.kernel(), false, avma});
  }
  return known->second;
}

// True when the event was one of these.
bool World::apply_kernel_event(Event& event) {
  if (const auto* begin = std::get_if<WorkBegin>(&event.payload)) {
    event.call_site = intern_kernel_function(begin->function);
    kernel_work_.begin(event, *begin);
  } else if (const auto* end = std::get_if<WorkEnd>(&event.payload)) {
    const Work work = kernel_work_.end(event, *end);
    event.call_site = intern_kernel_function(work.begin.function);
    event.payload = work;
  } else if (const auto* moved = std::get_if<CompactionMoved>(&event.payload)) {
    kernel_work_.note(event.tid, *moved);
  } else if (const auto* goal = std::get_if<CompactionGoal>(&event.payload)) {
    kernel_work_.note(event.tid, *goal);
  } else if (const auto* attempt = std::get_if<CompactionTry>(&event.payload)) {
    kernel_work_.note(event.tid, *attempt);
  } else if (auto* shrink = std::get_if<LruShrink>(&event.payload)) {
    shrink->part.kind = kernel_work_.reclaim_of(event.tid);
  } else if (auto* write = std::get_if<ReclaimWrite>(&event.payload)) {
    write->part.kind = kernel_work_.reclaim_of(event.tid);
  } else if (auto* throttle = std::get_if<ReclaimThrottle>(&event.payload)) {
    throttle->part.kind = kernel_work_.reclaim_of(event.tid);
  } else if (const auto* victim = std::get_if<OomVictim>(&event.payload)) {
    event.label = victim->comm.empty() ? processes_.comm(victim->pid, victim->pid)
                                       : strings_.intern(victim->comm);
  } else if (const auto* signal = std::get_if<SignalSent>(&event.payload)) {
    event.label = strings_.intern(signal->comm);
  } else if (const auto* dirtied = std::get_if<PageDirtied>(&event.payload)) {
    event.label = strings_.intern(dirtied->device);
  } else if (const auto* balance = std::get_if<DirtyBalance>(&event.payload)) {
    event.label = strings_.intern(balance->device);
  } else if (const auto* written = std::get_if<InodeWritten>(&event.payload)) {
    event.label = strings_.intern(written->device);
  } else {
    return false;
  }
  return true;
}

}  // namespace memtrace
