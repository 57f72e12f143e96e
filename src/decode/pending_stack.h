// The stack of the sample that is being decoded, until somebody asks for it.
#pragma once

#include <cstdint>
#include <span>

#include "decode/asked_stacks.h"
#include "perf/record/record.h"
#include "state/world/world.h"
#include "tracepoints/event/event_stack.h"

namespace memtrace {

class PendingStack final : public StackMaker {
 public:
  // Both outlive it.
  PendingStack(World& world, AskedStacks& asked) : world_(world), asked_(asked) {}

  // `callchain`, which replaces the sample's own, stays where it is until the next call.
  EventStack of(const Sample& sample, std::span<const std::uint64_t> callchain) {
    if (!world_.makes_stacks()) {
      return world_.intern_stack(sample.pid, callchain);
    }
    asked_.pass(sample.event);
    event_ = sample.event;
    pid_ = sample.pid;
    made_ = sample.stack;
    callchain_ = callchain;
    return EventStack(*this);
  }

  StackId make_stack() override {
    asked_.note(event_);
    return made_.valid() ? made_ : world_.intern_stack(pid_, callchain_);
  }

 private:
  World& world_;
  AskedStacks& asked_;
  std::uint32_t event_ = 0;
  std::uint32_t pid_ = 0;
  StackId made_;  // ahead
  std::span<const std::uint64_t> callchain_;
};

}  // namespace memtrace
