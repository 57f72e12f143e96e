// Adapts the events to what this user may do, and notes what is missing.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "base/units.h"
#include "perf/event/event_set.h"

namespace memtrace {
namespace {

constexpr std::size_t kNamesInNote = 8;

}  // namespace

void EventSet::note_smaller_rings(int refusal) {
  ring_note_ = format(
      "rings are only %s for each CPU (%s): bursts may be lost",
      print_bytes(ring_bytes_).c_str(),
      refusal == EPERM ? "the mlock limit forbids more; raise kernel.perf_event_mlock_kb or run as "
                         "root"
                       : "there is no memory for more");
}

// Without CAP_SYS_NICE our reader threads have no priority (own_thread.h). If the kernel wakes one
// on the CPU that fills its ring, it waits for the next tick: up to 4 ms at HZ=250, in which a task
// makes 700 page faults with 8 KiB of its stack each.
void EventSet::spare_small_rings(const EventSetup& setup) {
  CallGraph& graph = context_.call_graph;
  const bool any_to_spare = std::ranges::any_of(setup.events, [&](const EventRequest& request) {
    return !request.on_user_code && call_graph_of(request, graph).stack_bytes != 0;
  });
  if (!features_.user_stack || !graph.skip_kernel_work || ring_bytes_ >= kWholeStackRing ||
      !any_to_spare) {
    return;
  }
  const std::string rings = "rings of " + print_bytes(ring_bytes_);
  if (ring_bytes_ < kSmallestStackRing) {
    graph.max_stack_bytes_except_probes = 0;
    notes_.push_back("user stacks, except those of probes, follow frame pointers: " + rings +
                     " have no room for copies (--call-graph dwarf copies them anyway)");
    return;
  }
  graph.max_stack_bytes_except_probes = kDefaultStackBytes / 2;
  notes_.push_back("of user stacks, except those of probes, only " +
                   print_bytes(graph.max_stack_bytes_except_probes) + " are copied: " + rings +
                   " have no room for more (--call-graph dwarf copies more anyway)");
}

// A user who may not watch the kernel (kernel.perf_event_paranoid 2, no CAP_PERFMON) may watch his
// own programs in user mode, by software events: perf_event_open(2), exclude_kernel.
void EventSet::watch_user_mode_only() {
  const auto is_software = [](const OpenedEvent& event) {
    return event.request.type == kTypeSoftware;
  };
  const auto own = EventFd::open(events_.front().attr, {.tid = 0}, "dummy", kernel_);
  const bool refused =
      !own.ok() && (own.error().errno_value == EACCES || own.error().errno_value == EPERM);
  if (!refused || !std::all_of(events_.begin(), events_.end(), is_software)) {
    return;
  }
  for (OpenedEvent& event : events_) {
    event.attr.exclude_kernel = 1;
    event.attr.exclude_callchain_kernel = 1;
  }
  notes_.emplace_back(
      "only user mode was watched: events in the kernel, such as page faults in a system call "
      "that fills fresh memory, are not counted, and stacks have no kernel part; watching the "
      "kernel needs CAP_PERFMON, or kernel.perf_event_paranoid of 1 or less");
}

std::vector<std::string> EventSet::notes() const {
  std::vector<std::string> notes = notes_;
  if (!ring_note_.empty()) {
    notes.push_back(ring_note_);
  }
  if (!left_out_.empty()) {
    const std::size_t shown = std::min(left_out_.size(), kNamesInNote);
    notes.push_back(
        "not recorded, because they cannot be opened: " +
        join(std::span(left_out_).first(shown), ", ") +
        (shown == left_out_.size() ? "" : format(" and %zu others", left_out_.size() - shown)));
  }
  return notes;
}

}  // namespace memtrace
