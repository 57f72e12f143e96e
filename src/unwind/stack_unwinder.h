// Samples with registers and a copy of the user stack into samples with a callchain.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "perf/record/record.h"
#include "state/world/world.h"
#include "unwind/address_rules.h"
#include "unwind/stack_fast_walk.h"
#include "unwind/stack_walk.h"

namespace memtrace {

class StackUnwinder {
 public:
  // What became of the stacks so far.
  struct Counts {
    std::uint64_t stacks = 0;
    std::array<std::uint64_t, kStackEnds> by_end{};  // indexed by StackEnd
    std::unordered_map<ModuleId, std::uint64_t> without_rules;

    std::uint64_t of(StackEnd end) const { return by_end[static_cast<std::size_t>(end)]; }
  };

  // `world` knows the mappings as of the sample that is unwound.
  explicit StackUnwinder(World& world)
      : world_(world), rules_(world), fast_walk_(rules_.table()), walk_(rules_) {}

  StackUnwinder(const StackUnwinder&) = delete;
  StackUnwinder& operator=(const StackUnwinder&) = delete;
  StackUnwinder(StackUnwinder&&) = delete;
  StackUnwinder& operator=(StackUnwinder&&) = delete;
  ~StackUnwinder() = default;

  // The sample's callchain with its user part replaced by the frames unwound from its registers and
  // stack bytes; its own when it has none. The kernel's part and markers stay. Addresses are as the
  // kernel writes them: where the user's code was, then return addresses. Valid until the next
  // call.
  std::span<const std::uint64_t> unwind(const Sample& sample);

  // Who knows what a return address was before the kernel's return probe replaced it. Without that
  // a stack ends there.
  void set_pending_returns(PendingReturns pending) {
    walk_.set_pending_returns(std::move(pending));
  }

  // Where the samples are from: uname(2)'s word, "" for this machine.
  void set_machine(std::string_view architecture);

  // What is learnt is there for the threads that empty the rings; `shared` outlives the unwinder.
  void share_rules(SharedRules& shared) {
    rules_.share(shared);
    fast_walk_.use(shared.rules);
  }

  const Counts& counts() const { return counts_; }

  // The result of the last unwind().
  StackEnd last_end() const { return last_end_; }

  // Sentences for the reader of a report: how many stacks are not whole, and why.
  std::vector<std::string> caveats() const;

 private:
  std::span<const std::uint64_t> check(const Sample& sample, std::uint64_t space);
  std::span<const std::uint64_t> unwind_user(const Sample& sample);
  StackEnd walk_all(const Sample& sample);
  void keep_kernel_part(std::span<const std::uint64_t> chain);
  void count(StackEnd end);
  std::string module_counts() const;

  World& world_;
  AddressRules rules_;
  FastWalk fast_walk_;
  StackWalk walk_;
  std::vector<std::uint64_t> chain_;
  std::uint64_t stack_bytes_ = 0;  // of the longest copy
  StackEnd last_end_ = StackEnd::Complete;
  std::string foreign_machine_;
  Counts counts_;
};

}  // namespace memtrace
