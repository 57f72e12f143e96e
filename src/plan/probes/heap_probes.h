// Probes on every allocator in a target's files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "perf/event/event_attr.h"
#include "plan/probes/heap_plan.h"
#include "plan/probes/probe_definer.h"

namespace memtrace {

class HeapProbes {
 public:
  HeapProbes(HeapNeeds needs, ProbeDefiner& definer)
      : needs_(std::move(needs)), definer_(definer) {}

  // Probes the allocators of these files. Files that are none, or have no allocator, are passed
  // over. May be called again for others. Error: a probe that the kernel refuses.
  Result<std::vector<EventRequest>> add(const std::vector<TargetObject>& objects);

 private:
  Result<> add_object(const TargetObject& object, std::vector<EventRequest>& requests);
  Result<> define(const HeapProbe& probe,
                  const std::string& path,
                  std::vector<EventRequest>& requests);

  HeapNeeds needs_;
  ProbeDefiner& definer_;
  std::size_t allocators_ = 0;
};

}  // namespace memtrace
