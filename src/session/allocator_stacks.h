// Stacks that go through an allocator. What is mapped there is the allocator's own, also when its
// probes came too late to see the call: a library that is loaded, or a program that is executed,
// while it is recorded.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"
#include "report/namer.h"
#include "tracepoints/event/event.h"

namespace memtrace {

class AllocatorStacks {
 public:
  AllocatorStacks();

  // The functions that are probed, beside those that every allocator has.
  void learn(const std::deque<EventType>& types);

  bool contains(StackId stack, Namer& namer);

 private:
  bool is_allocator(const Frame& frame) const;

  std::set<std::string, std::less<>> functions_;
  std::size_t learnt_ = 0;
  std::unordered_map<StackId, bool> known_;
};

}  // namespace memtrace
