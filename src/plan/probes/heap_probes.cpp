#include "plan/probes/heap_probes.h"

#include <utility>

#include "tracepoints/decode/heap.h"

namespace memtrace {

Result<std::vector<EventRequest>> HeapProbes::add(const std::vector<TargetObject>& objects) {
  std::vector<EventRequest> requests;
  definer_.end_sharing();
  for (const TargetObject& object : objects) {
    TRY(add_object(object, requests));
  }
  return requests;
}

Result<> HeapProbes::add_object(const TargetObject& object, std::vector<EventRequest>& requests) {
  const std::vector<HeapProbe> probes = plan_heap_probes(object, needs_);
  allocators_ += probes.empty() ? 0 : 1;
  for (const HeapProbe& probe : probes) {
    TRY(define(probe, object.path, requests));
  }
  return kDone;
}

// Named as tracepoints/decode/heap.h has it; the group numbers what is there several times.
Result<> HeapProbes::define(const HeapProbe& probe,
                            const std::string& path,
                            std::vector<EventRequest>& requests) {
  std::string event = probe.function;
  if (allocators_ > 1) {
    event += "_" + std::to_string(allocators_);
  }
  if (probe.kind == HeapProbeKind::Return) {
    event += kReturnSuffix;
  } else if (probe.kind == HeapProbeKind::Again) {
    event += kAgainSuffix;
  }
  const bool has_stack = probe.kind == HeapProbeKind::Call || probe.has_no_call;
  auto defined = definer_.define_shared({.event = std::move(event),
                                         .path = path,
                                         .file_offset = probe.file_offset,
                                         .is_return = probe.is_return_probe,
                                         .args = probe.arguments},
                                        has_stack,
                                        both_filters(probe.filter, needs_.filter));
  if (!defined.ok()) {
    return defined.take_error();
  }
  EventRequest& request = requests.emplace_back(defined.take());
  request.info.period = has_stack ? needs_.period : 1;
  request.filter = probe.filter;
  request.stacks = has_stack;
  return kDone;
}

}  // namespace memtrace
