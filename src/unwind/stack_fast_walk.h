// The walk that nearly all stacks take: frames with plain rules only, over addresses whose rules
// are known. What is met beyond that is left to StackWalk.
//
// A program that allocates moves up and down at the inner end of its stack, while the outer part
// stands still. So the frames of each thread's last walk are remembered: once a walk arrives where
// the last one was (same stack pointer, frame pointer and program counter), its frames are those of
// the last one for as long as the words that it read are the same, and comparing them takes
// neither look-ups nor waiting for one word to know where the next one is.
//
//   last walk    malloc <- grow <- parse <- read <- main <- _start
//   this walk    malloc <- copy <- - - - - -read <- main <- _start    remembered from `read` on
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "perf/record/record.h"
#include "symbolize/cfi/register_file.h"
#include "unwind/rule_table.h"

namespace memtrace {

class FastWalk {
 public:
  static constexpr std::size_t kMaxFrames = 1024;

  // `table` outlives the walk. What it says of an address in a space never changes.
  explicit FastWalk(const RuleTable& table) : table_(&table) {}

  FastWalk(const FastWalk&) = delete;
  FastWalk& operator=(const FastWalk&) = delete;
  FastWalk(FastWalk&&) = delete;
  FastWalk& operator=(FastWalk&&) = delete;
  ~FastWalk() = default;

  // Another table from now on.
  void use(const RuleTable& table) { table_ = &table; }

  // The frames of a stack that could be followed to its outermost frame, as the rules call it: the
  // program counter, then return addresses. Nothing when it could not. Valid until the next walk.
  std::span<const std::uint64_t> walk(std::uint64_t space, const Sample& sample);

 private:
  // A frame, and which words of the stack led from it to its caller.
  struct Visit {
    std::uint64_t pc = 0;
    std::uint64_t sp = 0;
    std::uint64_t fp = 0;
    std::uint64_t slot = 0;   // of the return address
    std::uint64_t saved = 0;  // of the caller's frame pointer, or the slot where that is kept
    CodePlace place;
  };

  // Outermost first: what happens at the inner end moves nothing.
  struct Memory {
    std::uint64_t space = 0;
    std::uint32_t tid = 0;
    std::vector<Visit> visits;
  };

  // The sample at hand.
  struct Stack {
    std::uint64_t start = 0;
    std::span<const std::byte> bytes;
    StackBytes words;

    void prefetch(std::uint64_t avma) const {
      if (avma - start < bytes.size()) {
        __builtin_prefetch(bytes.data() + (avma - start));
      }
    }
  };

  Memory& recall(std::uint32_t tid);
  void prefetch(const Memory& memory) const;
  bool begin(const Sample& sample);
  bool step();
  bool go_on(Memory& memory);
  bool follow(std::vector<Visit>& known);
  std::size_t same_words(const std::vector<Visit>& known);

  static constexpr std::size_t kMemories = 16;  // a power of two

  const RuleTable* table_;
  std::uint64_t space_ = 0;
  Stack stack_;
  Visit at_;
  std::array<Memory, kMemories> memories_;
  std::vector<Visit> fresh_;  // not remembered, innermost first
  std::size_t count_ = 0;
  std::array<std::uint64_t, kMaxFrames> frames_{};
};

}  // namespace memtrace
