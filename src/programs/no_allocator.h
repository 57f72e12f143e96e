// Why no allocator was found in a target, and what to use instead.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/target/target.h"
#include "programs/target_objects.h"

namespace memtrace {

Error no_allocator(const Target& target, const std::vector<TargetObject>& objects);

// A sentence for each program of the target whose own heap is not seen though allocators of others
// are: static and not probed, or written in Go, of which a probe sees the allocations and none the
// frees. Of the whole machine none: nobody has asked for these programs.
struct ProbedFiles {
  std::set<std::string> paths;
  bool needs_frees = false;  // allocations alone are not enough
};

std::vector<std::string> unseen_heaps(const Target& target,
                                      const std::vector<TargetObject>& objects,
                                      const ProbedFiles& probed);

}  // namespace memtrace
