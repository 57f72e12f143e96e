#include "plan/events/kernel_counting.h"

#include "tracepoints/decode/system_calls.h"

namespace memtrace {
namespace {

// Not those of which samples are left out, multiplied or told apart only here.
bool is_countable(const EventRequest& request) {
  return request.info.period == 1 && !request.filter_children && !request.pmu_probe &&
         !request.shared && !is_raw_call_event(request.info.name);
}

}  // namespace

void count_in_kernel(std::span<EventRequest> requests) {
  for (EventRequest& request : requests) {
    request.count_only = is_countable(request);
    // The addresses of a count are not looked up.
    request.with_tracking = request.with_tracking && !request.count_only;
  }
}

}  // namespace memtrace
