// The part of choosing events that is about probes in the kernel.
#include <algorithm>
#include <iterator>

#include "plan/events/event_selection.h"

namespace memtrace {

// Separate from all others: they are probes on kernel functions, which the user must allow.
Result<> add_kernel_probes(const EventSelection& selection, SelectedEvents& selected) {
  const auto named = [](const std::string& event) { return is_kprobe_event(event); };
  const bool any_named = std::ranges::any_of(selection.events, named);
  if (any_named && !selection.kprobes) {
    return Error{
        "an event 'kprobe:...'", 0, "probes on kernel functions need --kprobes", ErrorKind::Usage};
  }
  if (!selection.kprobes) {
    return kDone;
  }
  auto probes = selection.plan_only ? Result(KernelProbes::plan()) : KernelProbes::open();
  if (!probes.ok()) {
    return probes.take_error();
  }
  selected.kernel_probes = probes.take();
  for (const std::string& event : selection.events) {
    if (!named(event)) {
      continue;
    }
    auto request = selected.kernel_probes->add_event(event, selection.period);
    if (!request.ok()) {
      return request.take_error();
    }
    selected.requests.push_back(request.take());
  }
  std::ranges::move(selected.kernel_probes->add_for(selection.views),
                    std::back_inserter(selected.requests));
  std::ranges::copy(selected.kernel_probes->notes(), std::back_inserter(selected.notes));
  return kDone;
}

}  // namespace memtrace
