#include "views/oom/oom_calls.h"

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "views/kit/kernel_probe_events.h"

namespace memtrace {

bool is_oom_call(const EventType& type) {
  return is_kernel_probe(type, "oom_kill_process");
}

void OomCalls::on_call(const Event& event, const World& world) {
  are_seen_ = true;
  const auto [known, is_new] = by_tid_.try_emplace(event.tid);
  if (!is_new) {
    without_victim_.push_back(std::move(known->second));
  }
  known->second = kill_at(event, world);
  known->second.is_called = true;
  known->second.call_stack = event.stack;
  known->second.call_time_ns = event.time_ns;
}

// One victim for each call: what comes later may be of no call.
void OomCalls::resolve_late(OomKill& kill, std::uint32_t tid) {
  const auto call = by_tid_.find(tid);
  if (call == by_tid_.end()) {
    return;
  }
  kill.is_called = true;
  kill.call_stack = call->second.stack;
  kill.call_time_ns = call->second.time_ns;
  by_tid_.erase(call);
}

std::vector<OomKill> OomCalls::take() {
  std::vector<OomKill> calls = std::exchange(without_victim_, {});
  for (auto& [tid, call] : by_tid_) {
    calls.push_back(std::move(call));
  }
  by_tid_.clear();
  return calls;
}

OomKill call_without_victim(const OomKill& kill) {
  OomKill call;
  call.time_ns = call.call_time_ns = kill.call_time_ns;
  call.trigger = kill.trigger;
  call.trigger_pid = kill.trigger_pid;
  call.stack = call.call_stack = kill.call_stack;
  call.is_called = true;
  return call;
}

std::vector<std::string> oom_call_notes(std::span<const OomKill> kills) {
  std::vector<std::string> notes;
  const auto count = [&](bool (*is)(const OomKill&)) {
    return static_cast<std::uint64_t>(std::ranges::count_if(kills, is));
  };
  if (const auto used = count([](const OomKill& kill) { return kill.uses_call_stack; }); used > 0) {
    notes.push_back("the stacks of " + counted(used, "kill", "kills") +
                    " come from the kprobe on oom_kill_process");
  }
  if (const auto open = count([](const OomKill& kill) { return !kill.has_victim(); }); open > 0) {
    notes.push_back("no event names the victim of " + counted(open, "call", "calls") +
                    " of oom_kill_process: before Linux 4.13 a victim that is already exiting gets "
                    "no signal");
  }
  return notes;
}

}  // namespace memtrace
