// Callchains of samples to stacks, and addresses to places in code, as of the process's mappings at
// this moment.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hash_map.h"
#include "state/process/code_tables.h"
#include "state/process/process_table.h"
#include "state/process/recent_chains.h"
#include "state/process/recent_ids.h"
#include "state/process/seen_places.h"

namespace memtrace {

// The part of each stack that is kept.
enum class StackPart : std::uint8_t { Whole, Kernel, User };

// What becomes of stacks.
enum class StackUse : std::uint8_t {
  Stacks,  // each has a StackId
  Places,  // only the places in code that they are made of are kept
  None,
};

class StackInterner {
 public:
  struct Options {
    StackPart part = StackPart::Whole;
    StackUse use = StackUse::Stacks;
  };

  // Both outlive it.
  StackInterner(CodeTables& code, ProcessTable& processes, Options options)
      : modules_(code.modules), stacks_(code.stacks), processes_(processes), options_(options) {
    if (options.use == StackUse::Places) {
      seen_.emplace();
    }
  }

  const StackTable& stacks() const { return stacks_; }

  // The stack of a sample of process `pid`: its callchain with markers, innermost first. Chains
  // that were seen before cost one hash.
  StackId intern(std::uint32_t pid, std::span<const std::uint64_t> callchain);

  LocationId kernel_address(std::uint64_t avma);   // of a call: a return address
  LocationId kernel_function(std::uint64_t avma);  // its entry
  // The place in process `pid` or in the kernel; none where there is no code.
  LocationId instruction(std::uint32_t pid, std::uint64_t avma);

 private:
  using Frame = ChainFrame;

  // Calls `use(frame)` for each frame that is wanted, innermost first, until it returns false.
  template <typename Use>
  void for_each_frame(std::span<const std::uint64_t> callchain, Use use) const;

  void add_frames(std::span<const std::uint64_t> callchain);
  StackId translate(const Process& process, std::span<const std::uint64_t> callchain);
  bool place_callers(const Process& process, std::uint64_t space, std::span<const Frame> frames);
  bool place_frames(const Process& process, std::uint64_t space, std::span<const Frame> frames);
  StackId called_from(StackId caller, std::span<const LocationId> innermost_first);
  void note_places(const Process& process, std::span<const std::uint64_t> callchain);
  LocationId place(const Process& process, std::uint64_t space, const Frame& frame);
  StackId called_from(StackId caller, LocationId location);
  CodeLocation locate(const Process& process, const Frame& frame) const;
  bool wanted(bool user) const;

  ModuleTable& modules_;
  StackTable& stacks_;
  ProcessTable& processes_;
  Options options_;
  RecentIds<StackId> known_chains_;     // of callchains in one address space
  RecentIds<LocationId> known_places_;  // of addresses in one address space
  RecentIds<StackId> known_calls_;      // of a place that was called from a stack
  RecentIds<StackId> known_kernels_;    // of the kernel's part, entered from a stack
  RecentChains recent_;
  HashMap<std::uint64_t, LocationId> kernel_locations_;
  HashMap<std::uint64_t, LocationId> kernel_functions_;
  // Of translate(), innermost first, kept to save allocations for each stack.
  std::vector<Frame> frames_;
  std::vector<LocationId> places_;
  std::optional<SeenPlaces> seen_;  // of note_places()
};

}  // namespace memtrace
