// Unwinds samples while they lie in the ring, and makes records of them that carry the frames in
// place of the stack's copy: a thirtieth of the size.
//
// The code at an address when the sample was taken is known for sure only after the merge: the
// record of a new mapping may lie in another CPU's ring. So a reader's thread unwinds by what the
// merging thread knew a moment ago and notes in the record which address space that was. If it has
// changed by the time of the sample, StackUnwinder checks that the frames have the same rules in
// the one that was true; else it ends the stack where they differ, and counts that. What a reader
// does not know keeps its copy, and is unwound after the merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "perf/live/ring_reader.h"
#include "unwind/shared_rules.h"
#include "unwind/stack_fast_walk.h"

namespace memtrace {

// For one thread.
class InRingUnwinder {
 public:
  explicit InRingUnwinder(std::shared_ptr<const SharedRules> shared)
      : shared_(std::move(shared)), walk_(shared_->rules) {}

  // As SampleRewrite says. A shrunk record has the layout of the original: the user's frames in
  // the callchain, no registers (PERF_SAMPLE_REGS_ABI_NONE), and a ShrunkStack as its user stack,
  // which the kernel never writes without registers.
  std::size_t shrink(const RecordParser& parser,
                     std::span<const std::byte> record,
                     std::span<std::byte> target);

 private:
  std::shared_ptr<const SharedRules> shared_;
  FastWalk walk_;
};

// What is left of a shrunk record's stack: the space by which it was unwound, where it began, and
// what lay there.
struct ShrunkStack {
  std::uint64_t space = 0;
  std::uint64_t stack_pointer = 0;
  std::uint64_t top = 0;
};

// Nothing for any other sample.
std::optional<ShrunkStack> shrunk_stack(const Sample& sample);
std::optional<std::uint64_t> shrunk_in_space(const Sample& sample);

// What LiveSetup::make_rewrite asks for.
SampleRewrite make_in_ring_unwinder(const std::shared_ptr<const SharedRules>& shared);

}  // namespace memtrace
