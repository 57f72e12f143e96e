// Plans the probes that the allocators in one file need.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/probes/custom_allocator.h"
#include "programs/target_objects.h"

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
  std::vector<CustomFunction> custom = {};  // --alloc and --free
  std::string filter = {};                  // --filter, which the events will be given

  bool any() const { return calls || returns || frees; }

  // Otherwise an allocator's mappings cannot be distinguished from the program's own.
  bool sees_all_calls() const {
    return !one_probe && period == 1 && min_bytes == 0 &&
           max_bytes == std::numeric_limits<std::uint64_t>::max();
  }
};

// Again: what makes a call enter its function a second time.
enum class HeapProbeKind : std::uint8_t { Call, Return, Free, Again };

struct HeapProbe {
  HeapProbeKind kind = HeapProbeKind::Call;
  std::string function;  // with the allocator's prefix: "je_malloc"
  std::uint64_t file_offset = 0;
  bool is_return_probe = false;  // else a Return is at an instruction inside the function
  bool has_no_call = false;      // a Return without a Call: it takes the stack
  std::string arguments;         // for uprobe_events
  std::string filter;            // "" = none
};

// Empty for a file without allocators, or that is no ELF file.
std::vector<HeapProbe> plan_heap_probes(const TargetObject& object, const HeapNeeds& needs);

}  // namespace memtrace
