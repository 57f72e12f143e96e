// The stack of the sample that is being decoded, until somebody asks for it.
#pragma once

#include <cstdint>
#include <span>

#include "state/world/world.h"
#include "tracepoints/event/event_stack.h"

namespace memtrace {

class PendingStack final : public StackMaker {
 public:
  explicit PendingStack(World& world) : world_(world) {}

  // `callchain` stays where it is until the next call.
  EventStack of(std::uint32_t pid, std::span<const std::uint64_t> callchain) {
    if (!world_.makes_stacks()) {
      return world_.intern_stack(pid, callchain);
    }
    pid_ = pid;
    callchain_ = callchain;
    return EventStack(*this);
  }

  StackId make_stack() override { return world_.intern_stack(pid_, callchain_); }

 private:
  World& world_;
  std::uint32_t pid_ = 0;
  std::span<const std::uint64_t> callchain_;
};

}  // namespace memtrace
