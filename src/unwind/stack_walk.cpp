#include "unwind/stack_walk.h"

namespace memtrace {
namespace {

constexpr RegisterNumbers kNumbers = kHostRegisters;
constexpr std::uint64_t kWord = sizeof(std::uint64_t);

std::uint64_t with_offset(std::uint64_t base, std::int64_t offset) {
  return base + static_cast<std::uint64_t>(offset);
}

}  // namespace

StackEnd StackWalk::walk(const Start& start) {
  carries_all_ = false;
  begin(start);
  if (walk_all() == Step::NeedsRegisters) {
    carries_all_ = true;
    begin(start);
    walk_all();
  }
  return end_;
}

void StackWalk::begin(const Start& start) {
  tid_ = start.tid;
  stack_ = start.stack;
  registers_ = start.registers;
  frame_.pc = registers_[kNumbers.program_counter];
  frame_.sp = registers_[kNumbers.stack_pointer];
  frame_.fp = registers_.has(kNumbers.frame_pointer) ? registers_[kNumbers.frame_pointer] : 0;
  frame_.exact = true;
  all_known_ = true;
  frame_.by_frame_pointer = false;
  count_ = 0;
}

StackWalk::Step StackWalk::walk_all() {
  frames_[count_++] = frame_.pc;
  frame_.place = rules_.at(frame_.lookup_avma());
  while (true) {
    hurry();
    const Step stepped = step(frame_.place);
    if (stepped != Step::GoOn) {
      return stepped;
    }
    const Step arrived = arrive();
    if (arrived != Step::GoOn) {
      return arrived;
    }
    frames_[count_++] = frame_.pc;
  }
}

// Passes all frames that are nothing special, with what is needed of them in registers: nearly all
// of the time is spent here. What it does not take is left to step() and arrive().
void StackWalk::hurry() {
  const StackBytes stack = stack_;
  CodePlace place = frame_.place;
  std::uint64_t sp = frame_.sp;
  std::uint64_t fp = frame_.fp;
  std::size_t count = count_;
  while (place.is_plain && !carries_all_ && count < kMaxFrames) {
    const FrameRule& rule = place.rule;
    const bool keeps_fp = rule.fp_offset_bytes == FrameRule::kInRegister;
    const std::uint64_t base = rule.cfa_register == kNumbers.stack_pointer ? sp : fp;
    const std::uint64_t cfa = with_offset(base, rule.cfa_offset_bytes);
    const std::uint64_t slot = with_offset(cfa, rule.ra_offset_bytes);
    const std::uint64_t saved = keeps_fp ? slot : with_offset(cfa, rule.fp_offset_bytes);
    if (!stack.covers(slot) || !stack.covers(saved) || cfa <= sp) {
      break;
    }
    const std::uint64_t pc = without_signature(stack[slot]);
    const auto caller = rules_.known(pc - 1);
    if (!caller || caller->where != CodePlace::Where::Code) {
      break;
    }
    place = *caller;
    fp = keeps_fp ? fp : stack[saved];
    sp = cfa;
    frames_[count++] = pc;
  }
  if (count != count_) {
    frame_.place = place;
    frame_.pc = frames_[count - 1];
    frame_.sp = sp;
    frame_.fp = fp;
    count_ = count;
    frame_.exact = false;
    all_known_ = false;
    frame_.by_frame_pointer = false;
  }
}

StackWalk::Step StackWalk::step(const CodePlace& place) {
  using Where = CodePlace::Where;
  if (place.where == Where::WithoutRules) {
    return frame_pointer_step();
  }
  if (place.where != Where::Code) {
    return end(place.where == Where::Unmapped ? StackEnd::Unmapped : StackEnd::Trampoline);
  }
  const FrameRule& rule = place.rule;
  if (rule.kind == FrameRule::Kind::Outermost) {
    return end(StackEnd::Complete);
  }
  const bool is_plain =
      rule.cfa_register == kNumbers.stack_pointer || rule.cfa_register == kNumbers.frame_pointer;
  if (carries_all_ || rule.kind == FrameRule::Kind::Full || !is_plain ||
      rule.ra_offset_bytes == FrameRule::kInRegister) {
    return full_step();
  }
  return plain_step(rule);
}

StackWalk::Step StackWalk::plain_step(const FrameRule& rule) {
  const std::uint64_t base = rule.cfa_register == kNumbers.stack_pointer ? frame_.sp : frame_.fp;
  const std::uint64_t cfa = with_offset(base, rule.cfa_offset_bytes);
  const std::uint64_t slot = with_offset(cfa, rule.ra_offset_bytes);
  if (!stack_.covers(slot)) {
    return outside(slot);
  }
  if (cfa <= frame_.sp) {
    return end(StackEnd::Loop);
  }
  if (rule.fp_offset_bytes != FrameRule::kInRegister) {
    const std::uint64_t saved = with_offset(cfa, rule.fp_offset_bytes);
    if (!stack_.covers(saved)) {
      return outside(saved);
    }
    frame_.fp = stack_[saved];
  }
  frame_.pc = without_signature(stack_[slot]);
  frame_.slot = slot;
  frame_.sp = cfa;
  frame_.exact = false;
  all_known_ = false;
  frame_.by_frame_pointer = false;
  return Step::GoOn;
}

// The file of all registers, true for this frame.
void StackWalk::sync_registers() {
  if (!all_known_) {
    registers_.forget_all();
  }
  registers_.set(kNumbers.stack_pointer, frame_.sp);
  registers_.set(kNumbers.frame_pointer, frame_.fp);
  registers_.set(kNumbers.program_counter, frame_.pc);
}

StackWalk::Step StackWalk::full_step() {
  const FullFrameRule* rule = rules_.full_at(frame_.lookup_avma());
  if (rule == nullptr && !frame_.place.is_plain) {
    return end(StackEnd::Undecodable);
  }
  sync_registers();
  if (rule == nullptr) {  // a function's entry, by its symbol: no register has changed yet
    const Step stepped = plain_step(frame_.place.rule);
    all_known_ = true;
    return stepped;
  }
  const CfiValue cfa = evaluate(rule->cfa, {registers_, stack_, std::nullopt});
  if (!cfa.ok()) {
    return fail(cfa.failure);
  }
  // On another stack, as a signal handler may be, the interrupted frame is anywhere.
  if (!rule->is_signal_frame && cfa.value < frame_.sp) {
    return end(StackEnd::Loop);
  }
  return leave_signal_or_call(*rule, cfa.value);
}

StackWalk::Step StackWalk::leave_signal_or_call(const FullFrameRule& rule, std::uint64_t cfa) {
  RegisterFile caller = registers_;
  caller.forget(kNumbers.program_counter);
  caller.set(kNumbers.stack_pointer, cfa);
  for (const std::uint8_t number : rule.lost) {
    caller.forget(number);
  }
  const CfiContext context{registers_, stack_, cfa};
  for (const auto& [number, expression] : rule.saved) {
    const CfiValue value = evaluate_register(expression, context);
    if (!value.ok() && (!carries_all_ || number == rule.return_address)) {
      return fail(value.failure);
    }
    value.ok() ? caller.set(number, value.value) : caller.forget(number);
  }
  if (!caller.has(rule.return_address)) {
    return fail(CfiFailure::UnknownRegister);
  }
  const bool stays = caller[rule.return_address] == frame_.pc && cfa == frame_.sp;
  if (stays) {
    return end(StackEnd::Loop);
  }
  registers_ = caller;
  frame_.pc = without_signature(caller[rule.return_address]);
  frame_.sp = caller[kNumbers.stack_pointer];
  frame_.fp = caller.has(kNumbers.frame_pointer) ? caller[kNumbers.frame_pointer] : 0;
  frame_.slot = cfa - kWord;
  frame_.exact = rule.is_signal_frame;
  all_known_ = true;
  frame_.by_frame_pointer = false;
  return Step::GoOn;
}

// Code that a program made at run time (JIT), and assembly without CFI: both ABIs lay the saved
// frame pointer and the return address side by side.
StackWalk::Step StackWalk::frame_pointer_step() {
  if (frame_.fp < frame_.sp || !stack_.covers(frame_.fp) || !stack_.covers(frame_.fp + kWord)) {
    return end(frame_.fp == 0 && count_ > 1 ? StackEnd::Complete : StackEnd::WithoutRules);
  }
  frame_.pc = stack_[frame_.fp + kWord];
  frame_.slot = frame_.fp + kWord;
  frame_.sp = frame_.fp + 2 * kWord;
  frame_.fp = stack_[frame_.fp];
  registers_.forget_all();
  all_known_ = carries_all_;
  frame_.exact = false;
  frame_.by_frame_pointer = true;
  return Step::GoOn;
}

// The trampoline is the first instruction of its page, and nothing calls from before it. Where the
// page has no name yet (3.10 and RHEL 7 install it without one, kernel/events/uprobes.c,
// xol_add_vma) this distinguishes it from all other code: no call can precede the first instruction
// of a page.
bool StackWalk::is_at_trampoline() {
  using Where = CodePlace::Where;
  constexpr std::uint64_t kSmallestPage = 4096;
  if (frame_.pc % kSmallestPage != 0) {
    return false;
  }
  const Where where = rules_.at(frame_.pc).where;
  return where == Where::Trampoline ||
         (where == Where::WithoutRules && rules_.at(frame_.pc - 1).where == Where::Unmapped);
}

// Whether what was found is a caller.
StackWalk::Step StackWalk::arrive() {
  using Where = CodePlace::Where;
  if (frame_.pc == 0) {
    return end(StackEnd::Complete);
  }
  if (count_ == kMaxFrames) {
    return end(StackEnd::TooDeep);
  }
  if (is_at_trampoline()) {
    return pass_trampoline();
  }
  frame_.place = rules_.at(frame_.lookup_avma());
  if (frame_.place.where == Where::Unmapped) {
    return end(frame_.by_frame_pointer ? StackEnd::WithoutRules : StackEnd::Unmapped);
  }
  return Step::GoOn;
}

StackWalk::Step StackWalk::pass_trampoline() {
  const auto hidden = pending_ ? pending_(tid_, frame_.slot) : std::nullopt;
  if (!hidden) {
    return end(StackEnd::Trampoline);
  }
  frame_.pc = *hidden;
  frame_.place = rules_.at(frame_.lookup_avma());
  return frame_.place.where == CodePlace::Where::Unmapped ? end(StackEnd::Unmapped) : Step::GoOn;
}

StackWalk::Step StackWalk::end(StackEnd how) {
  end_ = how;
  return Step::End;
}

StackWalk::Step StackWalk::fail(CfiFailure failure) {
  if (failure == CfiFailure::UnknownRegister && !carries_all_) {
    return Step::NeedsRegisters;
  }
  return end(failure == CfiFailure::Unreadable ? StackEnd::TooShort : StackEnd::Undecodable);
}

StackWalk::Step StackWalk::outside(std::uint64_t avma) {
  return end(avma < frame_.sp ? StackEnd::Loop : StackEnd::TooShort);
}

}  // namespace memtrace
