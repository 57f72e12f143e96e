// Probes on every allocator in a target's files.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/event_attr.h"
#include "pipeline/target_objects.h"
#include "tracepoints/uprobe_events.h"

namespace memtrace {

// What the views of a run need to see of each call.
struct HeapNeeds {
  bool calls = false;
  bool returns = false;
  bool frees = false;
  bool one_probe = false;  // returns alone; sizes come from glibc's chunks
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t period = 1;  // of calls; returns and frees are all needed to pair them

  bool any() const { return calls || returns || frees; }
};

class HeapProbes {
 public:
  HeapProbes(HeapNeeds needs, ProbeGroup& group) : needs_(needs), group_(group) {}

  // Probes the allocators of these files, but for files that were given before. Files that are
  // none, or have no allocator, are passed over. Error: a probe that the kernel refuses.
  Result<std::vector<EventRequest>> add(const std::vector<TargetObject>& objects);

  // The files that have allocators: "libc.so.6: malloc, calloc, ...".
  const std::vector<std::string>& found() const { return found_; }

 private:
  struct Place;

  Result<> add_object(const TargetObject& object, std::vector<EventRequest>& requests);
  Result<> add_function(const TargetObject& object,
                        const Place& place,
                        std::vector<EventRequest>& requests);
  Result<> define(ProbeDefinition probe, bool is_call, std::vector<EventRequest>& requests);
  std::string unique_name(const std::string& function);

  HeapNeeds needs_;
  ProbeGroup& group_;
  std::vector<std::string> names_;  // of events
  std::vector<std::string> found_;
};

}  // namespace memtrace
