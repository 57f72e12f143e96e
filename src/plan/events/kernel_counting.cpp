#include "plan/events/kernel_counting.h"

#include "tracepoints/decode/system_calls.h"

namespace memtrace {
namespace {

// Some events need samples, because memtrace itself filters, scales or distinguishes them.
bool is_countable(const EventRequest& request) {
  return request.info.period == 1 && !request.filter_children && !request.pmu_probe &&
         !request.shared && !is_raw_call_event(request.info.name);
}

}  // namespace

void count_in_kernel(std::span<EventRequest> requests) {
  for (EventRequest& request : requests) {
    request.count_only = is_countable(request);
    // A count has no addresses, so the mappings need not be complete before it begins.
    request.with_tracking = request.with_tracking && !request.count_only;
  }
}

}  // namespace memtrace
