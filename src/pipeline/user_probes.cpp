#include "pipeline/user_probes.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "pipeline/uprobe_event.h"
#include "tracepoints/heap.h"
#include "views/shared_heap.h"

namespace memtrace {

UserProbes::UserProbes(std::vector<TargetObject> objects,
                       ProbeDefiner heap_probes,
                       ProbeDefiner probes)
    : objects_(std::move(objects)),
      heap_probes_(std::move(heap_probes)),
      probes_(std::move(probes)) {}

Result<std::unique_ptr<UserProbes>> UserProbes::open(const Target& target) {
  const auto stale = remove_stale_probe_groups();
  if (stale.ok() && stale.value() > 0) {
    inform(format("removed %zu probes that a killed memtrace had left", stale.value()));
  }
  auto heap_probes = ProbeDefiner::open(ProbeKind::Heap);
  auto probes = ProbeDefiner::open(ProbeKind::Events);
  if (!heap_probes.ok() || !probes.ok()) {
    return heap_probes.ok() ? probes.take_error() : heap_probes.take_error();
  }
  auto objects = objects_of(target);
  if (!objects.ok()) {
    return objects.take_error();
  }
  return std::unique_ptr<UserProbes>(
      new UserProbes(objects.take(), heap_probes.take(), probes.take()));
}

namespace {

// Error: Usage, when none of the probes is on the function.
Result<> check_found(const CustomFunction& custom,
                     const Result<std::vector<EventRequest>>& probes) {
  if (!probes.ok()) {
    return probes.error();
  }
  const auto is_of_it = [&custom](const EventRequest& request) {
    return heap_function(request.info.name) == probe_event_name(custom.name, {});
  };
  if (std::any_of(probes.value().begin(), probes.value().end(), is_of_it)) {
    return kDone;
  }
  return Error{"no function '" + custom.name + "' in the target's files",
               0,
               "--alloc and --free take functions that have symbols; name the file in front: "
               "libpool.so:FUNCTION",
               ErrorKind::Usage};
}

}  // namespace

Result<std::vector<EventRequest>> UserProbes::add_heap(const HeapNeeds& needs) {
  HeapProbes probes(needs, heap_probes_);
  auto requests = probes.add(objects_);
  for (const CustomFunction& custom : needs.custom) {
    TRY(check_found(custom, requests));
  }
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
  for (const ProbeDefinition& probe : places.value()) {
    auto defined = probes_.define(probe);
    if (!defined.ok()) {
      return defined.take_error();
    }
    defined.value().info.period = period;
    requests.push_back(defined.take());
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
