// What could not be had as it was wanted, in sentences.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "base/units.h"
#include "perf/event_set.h"

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

// Whoever may not watch the kernel (kernel.perf_event_paranoid 2, no CAP_PERFMON) may watch his own
// programs in user mode, by software events: perf_event_open(2), exclude_kernel.
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
      "only user mode was watched: what happens in the kernel, such as page faults in a system "
      "call "
      "that fills fresh memory, is not counted, and stacks have no kernel part; that takes "
      "CAP_PERFMON, or kernel.perf_event_paranoid at 1 or less");
}

std::vector<std::string> EventSet::notes() const {
  std::vector<std::string> notes = notes_;
  if (!ring_note_.empty()) {
    notes.push_back(ring_note_);
  }
  if (!left_out_.empty()) {
    const std::size_t shown = std::min(left_out_.size(), kNamesInNote);
    notes.push_back(
        "not recorded, as they cannot be opened: " + join(std::span(left_out_).first(shown), ", ") +
        (shown == left_out_.size() ? "" : format(" and %zu others", left_out_.size() - shown)));
  }
  return notes;
}

}  // namespace memtrace
