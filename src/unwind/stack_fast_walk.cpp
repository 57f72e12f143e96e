#include "unwind/stack_fast_walk.h"

#include <asm/perf_regs.h>

#include <algorithm>
#include <bit>

#include "base/hash.h"
#include "os/host_machine.h"
#include "unwind/stack_walk.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kAbi64 = 2;  // PERF_SAMPLE_REGS_ABI_64
constexpr std::uint64_t kCacheLineBytes = 64;
// The innermost frames lie in the first lines; of the others only what is remembered is fetched.
constexpr std::uint64_t kFetchedLines = 6;
constexpr std::size_t kFetchedVisits = 64;

#if defined(__aarch64__)
constexpr unsigned kIpBit = PERF_REG_ARM64_PC;
constexpr unsigned kSpBit = PERF_REG_ARM64_SP;
constexpr unsigned kFpBit = PERF_REG_ARM64_X29;
#elif defined(__x86_64__)
constexpr unsigned kIpBit = PERF_REG_X86_IP;
constexpr unsigned kSpBit = PERF_REG_X86_SP;
constexpr unsigned kFpBit = PERF_REG_X86_BP;
#endif

// Sampled registers stand in the order of their bits. 0 when it was not sampled.
std::uint64_t register_of(const UserRegisters& registers, unsigned bit) {
  const std::uint64_t below = registers.mask & ((std::uint64_t{1} << bit) - 1);
  const auto place = static_cast<std::size_t>(std::popcount(below));
  const bool known = (registers.mask >> bit & 1U) != 0 && place < registers.values.size();
  return known ? registers.values[place] : 0;
}

// For a user probe PERF_SAMPLE_IP has it.
std::uint64_t instruction_of(const Sample& sample) {
  const bool was_sampled = (sample.registers.mask >> kIpBit & 1U) != 0;
  return was_sampled || sample.mode != CpuMode::User ? register_of(sample.registers, kIpBit)
                                                     : sample.ip;
}

std::uint64_t moved_by(std::uint64_t base, std::int64_t offset) {
  return base + static_cast<std::uint64_t>(offset);
}

}  // namespace

std::span<const std::uint64_t> FastWalk::walk(std::uint64_t space, const Sample& sample) {
  space_ = space;
  if (sample.registers.abi != kAbi64 || !begin(sample)) {
    return {};
  }
  Memory& memory = recall(sample.tid);
  prefetch(memory);
  // The interrupted frame is not remembered: its rule is that of its instruction, not of the one
  // before a return address.
  if (!step() || !go_on(memory)) {
    return {};
  }
  memory.visits.insert(memory.visits.end(), fresh_.rbegin(), fresh_.rend());
  return std::span(frames_).first(count_);
}

bool FastWalk::begin(const Sample& sample) {
  at_ = {.pc = instruction_of(sample),
         .sp = register_of(sample.registers, kSpBit),
         .fp = register_of(sample.registers, kFpBit)};
  stack_ = {at_.sp, sample.user_stack, StackBytes(at_.sp, sample.user_stack)};
  fresh_.clear();
  count_ = 0;
  const auto place = table_->find(space_, at_.pc);
  if (!place || !place->is_plain) {
    return false;
  }
  at_.place = *place;
  frames_[count_++] = at_.pc;
  return true;
}

FastWalk::Memory& FastWalk::recall(std::uint32_t tid) {
  Memory& memory = memories_[mix(tid) & (kMemories - 1)];
  if (memory.tid != tid || memory.space != space_) {
    memory.tid = tid;
    memory.space = space_;
    memory.visits.clear();
  }
  return memory;
}

// All at once: a walk waits for each word to know where the next one is.
void FastWalk::prefetch(const Memory& memory) const {
  for (std::uint64_t line = 0; line < kFetchedLines; ++line) {
    stack_.prefetch(stack_.start + line * kCacheLineBytes);
  }
  const std::size_t size = memory.visits.size();
  for (std::size_t i = size; i > 0 && size - i < kFetchedVisits; --i) {
    stack_.prefetch(memory.visits[i - 1].slot);
  }
}

// From at_ to its caller.
bool FastWalk::step() {
  const FrameRule& rule = at_.place.rule;
  const bool keeps_fp = rule.fp_offset_bytes == FrameRule::kInRegister;
  const std::uint64_t base = rule.cfa_register == kHostRegisters.stack_pointer ? at_.sp : at_.fp;
  const std::uint64_t cfa = moved_by(base, rule.cfa_offset_bytes);
  const std::uint64_t slot = moved_by(cfa, rule.ra_offset_bytes);
  const std::uint64_t saved = keeps_fp ? slot : moved_by(cfa, rule.fp_offset_bytes);
  if (!stack_.words.covers(slot) || !stack_.words.covers(saved) || cfa <= at_.sp ||
      count_ == kMaxFrames) {
    return false;
  }
  const std::uint64_t pc = without_signature(stack_.words[slot]);
  const auto caller = table_->find(space_, pc - 1);
  if (!caller || caller->where != CodePlace::Where::Code) {
    return false;
  }
  at_.slot = slot;
  at_.saved = saved;
  if (count_ > 1) {
    fresh_.push_back(at_);
  }
  at_ = {.pc = pc, .sp = cfa, .fp = keeps_fp ? at_.fp : stack_.words[saved], .place = *caller};
  frames_[count_++] = pc;
  return true;
}

// From the second frame to the outermost: whether it was reached.
bool FastWalk::go_on(Memory& memory) {
  while (!follow(memory.visits)) {
    if (at_.place.rule.kind == FrameRule::Kind::Outermost) {
      memory.visits.clear();
      fresh_.push_back(at_);
      return true;
    }
    if (!at_.place.is_plain || !step()) {
      return false;
    }
  }
  return true;
}

// Takes what is known of the way from at_ outwards. True when that was all; else at_ is the first
// frame whose words have changed. Of what is known, only what lies further out is left.
bool FastWalk::follow(std::vector<Visit>& known) {
  while (!known.empty() && known.back().sp < at_.sp) {
    known.pop_back();
  }
  if (known.empty() || known.back().sp != at_.sp || known.back().pc != at_.pc ||
      known.back().fp != at_.fp) {
    return false;
  }
  const std::size_t reached = same_words(known);
  if (reached == 0) {
    return true;
  }
  fresh_.insert(
      fresh_.end(), known.rbegin(), known.rend() - static_cast<std::ptrdiff_t>(reached + 1));
  at_ = known[reached];
  known.resize(reached);
  return false;
}

// How far out the words of the stack lead to the same frames as before: an index into `known`.
std::size_t FastWalk::same_words(const std::vector<Visit>& known) {
  std::size_t i = known.size() - 1;
  for (; i > 0 && count_ < kMaxFrames; --i) {
    const Visit& visit = known[i];
    const Visit& caller = known[i - 1];
    const bool keeps_fp = visit.saved == visit.slot;
    if (!stack_.words.covers(visit.slot) || !stack_.words.covers(visit.saved) ||
        without_signature(stack_.words[visit.slot]) != caller.pc ||
        (!keeps_fp && stack_.words[visit.saved] != caller.fp)) {
      break;
    }
    frames_[count_++] = caller.pc;
  }
  return i;
}

}  // namespace memtrace
