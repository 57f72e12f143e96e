// What happened in a thread while it was in a page fault or a system call that is not over yet.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash_map.h"
#include "tracepoints/event/event_work.h"

namespace memtrace {

// Pages that were allocated, or work that has ended.
struct InnerStep {
  WorkKind work = WorkKind::Other;  // Other: an allocation
  std::uint64_t count = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t bytes = 0;  // allocated or reclaimed
};

class OpenLayers {
 public:
  // The thread is in a system call from now on.
  void enter(std::uint32_t tid) { calls_.insert(tid); }

  void leave(std::uint32_t tid) { calls_.erase(tid); }

  bool is_in_call(std::uint32_t tid) const { return calls_.contains(tid); }

  // Steps of one kind that follow one another become one.
  void add(std::uint32_t tid, const InnerStep& step) {
    std::vector<InnerStep>& steps = steps_[tid];
    if (!steps.empty() && steps.back().work == step.work) {
      steps.back().count += step.count;
      steps.back().time_ns += step.time_ns;
      steps.back().bytes += step.bytes;
    } else {
      steps.push_back(step);
    }
  }

  // All that the thread has done since the last call, in order.
  std::vector<InnerStep> take(std::uint32_t tid) {
    const auto found = steps_.find(tid);
    if (found == steps_.end()) {
      return {};
    }
    std::vector<InnerStep> steps = std::move(found.value());
    steps_.erase(found);
    return steps;
  }

 private:
  HashSet<std::uint32_t> calls_;  // by tid
  HashMap<std::uint32_t, std::vector<InnerStep>> steps_;
};

}  // namespace memtrace
