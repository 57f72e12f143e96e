// The user part of a sample's callchain as true as what the sample carries allows: unwound from
// the stack's bytes where it has them, repaired at its inner end where the kernel followed frame
// pointers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "perf/record/record.h"
#include "unwind/caller_repair.h"
#include "unwind/in_ring_unwinder.h"
#include "unwind/return_slots.h"
#include "unwind/stack_unwinder.h"

namespace memtrace {

class UserStacks {
 public:
  explicit UserStacks(World& world);
  UserStacks(const UserStacks&) = delete;  // the unwinder asks this very object's slots
  UserStacks& operator=(const UserStacks&) = delete;
  UserStacks(UserStacks&&) = delete;
  UserStacks& operator=(UserStacks&&) = delete;
  ~UserStacks() = default;

  // Valid until the next call.
  std::span<const std::uint64_t> complete(const Sample& sample);

  std::vector<std::string> caveats() const { return unwinder_.caveats(); }

  StackUnwinder& unwinder() { return unwinder_; }

 private:
  // True when the kernel has put a user part into it, which it leaves out where the stack's bytes
  // are to be unwound (exclude_callchain_user).
  static bool follows_frame_pointers(std::span<const std::uint64_t> chain);

  void note_return_slot(const Sample& sample,
                        const std::optional<ShrunkStack>& shrunk,
                        std::span<const std::uint64_t> chain);

  StackUnwinder unwinder_;
  CallerRepair repair_;
  ReturnSlots slots_;
};

}  // namespace memtrace
