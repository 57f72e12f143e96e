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
  pc_ = registers_[kNumbers.program_counter];
  sp_ = registers_[kNumbers.stack_pointer];
  fp_ = registers_.has(kNumbers.frame_pointer) ? registers_[kNumbers.frame_pointer] : 0;
  exact_ = true;
  all_known_ = true;
  by_frame_pointer_ = false;
  count_ = 0;
}

StackWalk::Step StackWalk::walk_all() {
  frames_[count_++] = pc_;
  place_ = rules_.at(lookup_avma());
  while (true) {
    hurry();
    const Step stepped = step(place_);
    if (stepped != Step::GoOn) {
      return stepped;
    }
    const Step arrived = arrive();
    if (arrived != Step::GoOn) {
      return arrived;
    }
    frames_[count_++] = pc_;
  }
}

// Passes all frames that are nothing special, with what is needed of them in registers: nearly all
// of the time is spent here. What it does not take is left to step() and arrive().
void StackWalk::hurry() {
  const StackBytes stack = stack_;
  CodePlace place = place_;
  std::uint64_t sp = sp_;
  std::uint64_t fp = fp_;
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
    place_ = place;
    pc_ = frames_[count - 1];
    sp_ = sp;
    fp_ = fp;
    count_ = count;
    exact_ = false;
    all_known_ = false;
    by_frame_pointer_ = false;
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
  const std::uint64_t base = rule.cfa_register == kNumbers.stack_pointer ? sp_ : fp_;
  const std::uint64_t cfa = with_offset(base, rule.cfa_offset_bytes);
  const std::uint64_t slot = with_offset(cfa, rule.ra_offset_bytes);
  if (!stack_.covers(slot)) {
    return outside(slot);
  }
  if (cfa <= sp_) {
    return end(StackEnd::Loop);
  }
  if (rule.fp_offset_bytes != FrameRule::kInRegister) {
    const std::uint64_t saved = with_offset(cfa, rule.fp_offset_bytes);
    if (!stack_.covers(saved)) {
      return outside(saved);
    }
    fp_ = stack_[saved];
  }
  pc_ = without_signature(stack_[slot]);
  slot_ = slot;
  sp_ = cfa;
  exact_ = false;
  all_known_ = false;
  by_frame_pointer_ = false;
  return Step::GoOn;
}

// The file of all registers, true for this frame.
void StackWalk::sync_registers() {
  if (!all_known_) {
    registers_.forget_all();
  }
  registers_.set(kNumbers.stack_pointer, sp_);
  registers_.set(kNumbers.frame_pointer, fp_);
  registers_.set(kNumbers.program_counter, pc_);
}

StackWalk::Step StackWalk::full_step() {
  const FullFrameRule* rule = rules_.full_at(lookup_avma());
  if (rule == nullptr && !place_.is_plain) {
    return end(StackEnd::Undecodable);
  }
  sync_registers();
  if (rule == nullptr) {  // a function's entry, by its symbol: no register has changed yet
    const Step stepped = plain_step(place_.rule);
    all_known_ = true;
    return stepped;
  }
  const CfiValue cfa = evaluate(rule->cfa, {registers_, stack_, std::nullopt});
  if (!cfa.ok()) {
    return fail(cfa.failure);
  }
  // On another stack, as a signal handler may be, the interrupted frame is anywhere.
  if (!rule->is_signal_frame && cfa.value < sp_) {
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
  const bool stays = caller[rule.return_address] == pc_ && cfa == sp_;
  if (stays) {
    return end(StackEnd::Loop);
  }
  registers_ = caller;
  pc_ = without_signature(caller[rule.return_address]);
  sp_ = caller[kNumbers.stack_pointer];
  fp_ = caller.has(kNumbers.frame_pointer) ? caller[kNumbers.frame_pointer] : 0;
  slot_ = cfa - kWord;
  exact_ = rule.is_signal_frame;
  all_known_ = true;
  by_frame_pointer_ = false;
  return Step::GoOn;
}

// Code that a program made at run time (JIT), and assembly without CFI: both ABIs lay the saved
// frame pointer and the return address side by side.
StackWalk::Step StackWalk::frame_pointer_step() {
  if (fp_ < sp_ || !stack_.covers(fp_) || !stack_.covers(fp_ + kWord)) {
    return end(fp_ == 0 && count_ > 1 ? StackEnd::Complete : StackEnd::WithoutRules);
  }
  pc_ = stack_[fp_ + kWord];
  slot_ = fp_ + kWord;
  sp_ = fp_ + 2 * kWord;
  fp_ = stack_[fp_];
  registers_.forget_all();
  all_known_ = carries_all_;
  exact_ = false;
  by_frame_pointer_ = true;
  return Step::GoOn;
}

// The trampoline is the first instruction of its page, and nothing calls from before it. Where the
// page has no name yet (3.10 and RHEL 7 install it without one, kernel/events/uprobes.c,
// xol_add_vma) this distinguishes it from all other code: no call can precede the first instruction
// of a page.
bool StackWalk::is_at_trampoline() {
  using Where = CodePlace::Where;
  constexpr std::uint64_t kSmallestPage = 4096;
  if (pc_ % kSmallestPage != 0) {
    return false;
  }
  const Where where = rules_.at(pc_).where;
  return where == Where::Trampoline ||
         (where == Where::WithoutRules && rules_.at(pc_ - 1).where == Where::Unmapped);
}

// Whether what was found is a caller.
StackWalk::Step StackWalk::arrive() {
  using Where = CodePlace::Where;
  if (pc_ == 0) {
    return end(StackEnd::Complete);
  }
  if (count_ == kMaxFrames) {
    return end(StackEnd::TooDeep);
  }
  if (is_at_trampoline()) {
    return pass_trampoline();
  }
  place_ = rules_.at(lookup_avma());
  if (place_.where == Where::Unmapped) {
    return end(by_frame_pointer_ ? StackEnd::WithoutRules : StackEnd::Unmapped);
  }
  return Step::GoOn;
}

StackWalk::Step StackWalk::pass_trampoline() {
  const auto hidden = pending_ ? pending_(tid_, slot_) : std::nullopt;
  if (!hidden) {
    return end(StackEnd::Trampoline);
  }
  pc_ = *hidden;
  place_ = rules_.at(lookup_avma());
  return place_.where == CodePlace::Where::Unmapped ? end(StackEnd::Unmapped) : Step::GoOn;
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
  return end(avma < sp_ ? StackEnd::Loop : StackEnd::TooShort);
}

}  // namespace memtrace
