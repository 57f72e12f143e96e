#include "views/resident/thread_acts.h"

#include <algorithm>
#include <iterator>

#include "base/kernel_address.h"

namespace memtrace {
namespace {

bool is_write(const PageFault& fault) {
  return fault.has_error_code && (fault.error_code & kFaultWrite) != 0;
}

}  // namespace

void ThreadActs::on(const Event& event, const World& world) {
  if (const auto* fault = std::get_if<PageFault>(&event.payload)) {
    if (fault->stage == FaultStage::Entry) {
      begin_fault(event, *fault, world);
    } else {
      acts_[event.tid].fault = {};
    }
  } else if (const auto* entry = std::get_if<SystemCallEntry>(&event.payload)) {
    begin_call(event, *entry, world);
  } else if (std::holds_alternative<SystemCallDone>(event.payload)) {
    acts_[event.tid] = {};
  }
}

void ThreadActs::begin_fault(const Event& event, const PageFault& fault, const World& world) {
  if (fault.address >= kFirstKernelAddress) {
    return;
  }
  const FaultPlace place = place_of(world, event.pid, fault.address);
  acts_[event.tid].fault = {
      .in = ThreadAct::In::Fault,
      .place = rss_place(world, event.pid, fault.address),
      .kind = place.kind,
      .is_copy = is_write(fault) && place.is_private && place.kind == PlaceKind::File};
  if (acts_.size() >= forget_at_) {
    forget_idle();
  }
}

void ThreadActs::begin_call(const Event& event, const SystemCallEntry& entry, const World& world) {
  acts_[event.tid] = {.call = {.in = ThreadAct::In::Call,
                               .place = rss_place(world, event.pid, entry.arguments[0]),
                               .call = entry.call},
                      .fault = {}};
}

// Threads end, and their ids stay here.
void ThreadActs::forget_idle() {
  for (auto acts = acts_.begin(); acts != acts_.end();) {
    const bool is_idle = acts->second.call.in == ThreadAct::In::Nothing &&
                         acts->second.fault.in == ThreadAct::In::Nothing;
    acts = is_idle ? acts_.erase(acts) : std::next(acts);
  }
  forget_at_ = std::max<std::size_t>(4096, 2 * acts_.size());
}

}  // namespace memtrace
