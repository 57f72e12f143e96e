#include "pipeline/user_probes.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "pipeline/uprobe_event.h"
#include "tracepoints/heap.h"
#include "views/shared_heap.h"

namespace memtrace {

UserProbes::UserProbes(const TracepointFiles& files, std::vector<TargetObject> objects)
    : objects_(std::move(objects)), heap_group_(files, kHeapGroup), group_(files, "memtrace_") {}

Result<std::unique_ptr<UserProbes>> UserProbes::open(const TracepointFiles& files,
                                                     const Target& target) {
  if (const std::size_t stale = remove_stale_probes(files); stale > 0) {
    inform(format("removed %zu probes that a killed memtrace had left", stale));
  }
  auto objects = objects_of(target);
  if (!objects.ok()) {
    return objects.take_error();
  }
  return std::unique_ptr<UserProbes>(new UserProbes(files, objects.take()));
}

Result<std::vector<EventRequest>> UserProbes::add_heap(const HeapNeeds& needs) {
  HeapProbes probes(needs, heap_group_);
  auto requests = probes.add(objects_);
  if (requests.ok() && requests.value().empty()) {
    return Error{"no allocator found in the target",
                 0,
                 "a static program without symbols hides its malloc: name its functions with "
                 "-e uprobe:PATH:FUNCTION, or use faults and brk"};
  }
  return requests;
}

Result<std::vector<EventRequest>> UserProbes::add_event(const std::string& event,
                                                        std::uint64_t period) {
  const auto parsed = parse_uprobe_event(event);
  if (!parsed.ok()) {
    return parsed.error();
  }
  auto places = find_uprobe_places(parsed.value(), objects_);
  if (!places.ok()) {
    return places.take_error();
  }
  std::vector<EventRequest> requests;
  for (ProbeDefinition& probe : places.value()) {
    const std::string name = probe.event;
    for (int n = 2; std::find(names_.begin(), names_.end(), probe.event) != names_.end(); ++n) {
      probe.event = name + "_" + std::to_string(n);
    }
    names_.push_back(probe.event);
    auto defined = group_.define(probe);
    if (!defined.ok()) {
      return defined.take_error();
    }
    requests.push_back({.info = {.name = defined.value().name,
                                 .kind = EventKind::Tracepoint,
                                 .config = defined.value().id,
                                 .period = period,
                                 .format = defined.value().format},
                        .type = kTypeTracepoint});
  }
  return requests;
}

std::vector<std::string_view> without_heap_needs(std::span<const std::string_view> needs,
                                                 HeapNeeds& heap) {
  std::vector<std::string_view> others;
  for (const std::string_view need : needs) {
    if (need == kHeapCalls) {
      heap.calls = true;
    } else if (need == kHeapReturns) {
      heap.returns = true;
    } else if (need == kHeapFrees) {
      heap.frees = true;
    } else {
      others.push_back(need);
    }
  }
  return others;
}

}  // namespace memtrace
