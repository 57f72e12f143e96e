// Events that are added to a set while it records.
#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "perf/event/event_set.h"

namespace memtrace {
Result<> AddedEvents::enable() const {
  for (const OpenedFd& opened : fds) {
    TRY(opened.fd.enable());
  }
  return kDone;
}

Result<AddedEvents> EventSet::open_added(const std::vector<EventRequest>& requests) const {
  const bool whole_machine = tids_ == std::vector<std::int32_t>{-1};
  const bool inherits = context_.inherit && std::ranges::none_of(requests, is_of_uprobe_pmu);
  AttrContext context = context_;
  context.inherit = false;
  context.enable_on_exec = false;
  AddedEvents late;
  for (const EventRequest& request : requests) {
    OpenedEvent& event =
        late.events.emplace_back(OpenedEvent{request, make_attr(request, context), {}});
    event.for_all_tasks = inherits && !whole_machine;
  }
  mark_shared(late.events);
  for (std::size_t ring = 0; ring < rings_.size(); ++ring) {
    if (inherits || whole_machine) {
      TRY(open_added_on(ring, {.tid = -1, .cpu = ring_cpus_[ring]}, late));
      continue;
    }
    for (const std::int32_t tid : tids_) {
      const auto opened = open_added_on(ring, {.tid = tid, .cpu = ring_cpus_[ring]}, late);
      if (!opened.ok() && opened.error().errno_value != ESRCH) {  // it has ended
        return opened.error();
      }
    }
  }
  return late;
}

Result<> EventSet::open_added_on(std::size_t ring, EventFd::Place place, AddedEvents& late) const {
  for (OpenedEvent& event : late.events) {
    if (event.is_opened_by_other) {
      continue;
    }
    auto fd = EventFd::open(event.attr, place, event.request.info.name, kernel_);
    if (!fd.ok()) {
      return fd.take_error();
    }
    const auto id = fd.value().id();
    if (!id.ok()) {
      return id.error();
    }
    (event.request.shared ? event.kernel_ids : event.ids).push_back(id.value());
    TRY(fd.value().send_output_to(ring_fds_[ring]));
    const std::string filter = event.request.pmu_probe ? std::string()
                               : event.request.shared  ? shared_filter(event, late.events)
                                                       : event.request.filter;
    // Recording memtrace's own calls would cause more calls.
    TRY(place.tid < 0 ? fd.value().set_filter_for_others(filter) : fd.value().set_filter(filter));
    late.fds.push_back({.fd = fd.take(), .on_user_code = event.request.on_user_code});
  }
  return kDone;
}

void EventSet::adopt(AddedEvents late) {
  std::move(late.events.begin(), late.events.end(), std::back_inserter(events_));
  std::move(late.fds.begin(), late.fds.end(), std::back_inserter(fds_));
}

}  // namespace memtrace
