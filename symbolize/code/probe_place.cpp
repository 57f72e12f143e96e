#include "symbolize/code/probe_place.h"

#include <elf.h>

#include <algorithm>

namespace memtrace {
namespace {

using Kind = InstructionKind;

// A block that ends in a return has this many instructions at most: xor, pops, add.
constexpr int kReturnBlockLimit = 12;

constexpr RegisterMask kCalleeSaved = mask_of(X86Register::Bx) | mask_of(X86Register::Bp) |
                                      mask_of(X86Register::Sp) | mask_of(X86Register::R12) |
                                      mask_of(X86Register::R13) | mask_of(X86Register::R14) |
                                      mask_of(X86Register::R15);

bool is_x86_64(const FunctionCode& code) {
  return code.machine == EM_X86_64;
}

bool has_indirect_jump(std::span<const Instruction> code) {
  return std::any_of(code.begin(), code.end(), [](const Instruction& one) {
    return one.kind == Kind::IndirectJump;
  });
}

// Before this offset no instruction but the entry is reached by a branch. What an indirect jump
// may lead to is not known, but not to the pushes: they run once for each call.
std::uint64_t first_branch_target(std::span<const Instruction> code) {
  std::uint64_t first = ~std::uint64_t{0};
  for (const Instruction& one : code) {
    if (one.has_target() && one.target > 0) {
      first = std::min(first, static_cast<std::uint64_t>(one.target));
    }
  }
  return first;
}

bool returns_at_once(std::span<const Instruction> code, std::int64_t offset) {
  const Instruction* next = instruction_at(code, offset);
  for (int i = 0; i < kReturnBlockLimit && next != nullptr; ++i) {
    if (next->kind == Kind::Return) {
      return true;
    }
    if (next->kind != Kind::Plain && next->kind != Kind::Nop) {
      return false;
    }
    next = instruction_at(code, static_cast<std::int64_t>(next->limit()));
  }
  return false;
}

// branch_setup_ops() and push_setup_ops() in the kernel's arch/x86/kernel/uprobes.c. Left out: the
// longer nops, which older kernels step over and 6.18 replaces by a call in the middle of code.
bool is_emulated(const Instruction& one, const PlaceRequest& request) {
  switch (one.kind) {
    case Kind::Nop:
      return true;
    case Kind::Push:
      return request.push_is_emulated && one.size_bytes <= 2;
    case Kind::Jump:
    case Kind::ConditionalJump:
    case Kind::Call:
      return one.is_short_form;
    default:
      return false;
  }
}

// What comes behind is not reached by every call, or not with the same arguments and stack.
bool ends_walk(const Instruction& one, const PlaceRequest& request) {
  const bool goes_on = one.kind == Kind::Plain || one.kind == Kind::Push || one.kind == Kind::Nop;
  return !goes_on || (one.written & request.needed) != 0 || !one.stack_bytes;
}

}  // namespace

ProbePlace find_probe_place(const FunctionCode& code, const PlaceRequest& request) {
  ProbePlace best;
  if (!is_x86_64(code)) {
    return best;
  }
  const auto instructions = decode_x86(code.bytes);
  const std::uint64_t limit = first_branch_target(instructions);
  const bool may_jump_anywhere = has_indirect_jump(instructions);
  ProbePlace here;
  for (const Instruction& one : instructions) {
    here.offset_bytes = one.offset;
    if (one.offset >= limit) {
      break;
    }
    const bool is_certain = one.offset == 0 || one.kind == Kind::Push || !may_jump_anywhere;
    if (is_emulated(one, request) && is_certain) {
      best = here;
      best.is_emulated = true;
    }
    const bool passes = one.kind == Kind::ConditionalJump && request.allow_early_return &&
                        returns_at_once(instructions, one.target);
    const bool is_best = best.is_emulated && best.offset_bytes == one.offset;
    if (!passes && (is_best || ends_walk(one, request))) {
      break;
    }
    here.skips_early_returns = here.skips_early_returns || passes;
    here.pushed_bytes -= one.stack_bytes.value_or(0);
  }
  return best;
}

namespace {

// Finds the registers that hold the first argument before each instruction, over all paths: starts
// from "all of them" and takes away until nothing changes.
class ArgumentFlow {
 public:
  explicit ArgumentFlow(std::span<const Instruction> code) : code_(code), holds_(code.size()) {
    reach(0, mask_of(X86Register::Di));
    while (!waiting_.empty()) {
      const std::size_t index = waiting_.back();
      waiting_.pop_back();
      follow(index);
    }
  }

  RegisterMask at(std::size_t index) const {
    return holds_[index].is_reached ? holds_[index].registers : 0;
  }

 private:
  struct State {
    RegisterMask registers = ~RegisterMask{0};
    bool is_reached = false;
  };

  void reach(std::int64_t offset, RegisterMask registers) {
    const Instruction* next = instruction_at(code_, offset);
    if (next == nullptr) {
      return;
    }
    const auto index = static_cast<std::size_t>(next - code_.data());
    State& state = holds_[index];
    const RegisterMask left = state.registers & registers;
    if (!state.is_reached || left != state.registers) {
      state = {left, true};
      waiting_.push_back(index);
    }
  }

  static RegisterMask after(const Instruction& one, RegisterMask before) {
    RegisterMask registers = before & ~one.written;
    if (one.move && !one.move->to_memory && (before & mask_of(one.move->source)) != 0) {
      registers |= mask_of(one.move->destination);
    }
    const bool is_call = one.kind == Kind::Call || one.kind == Kind::IndirectCall;
    return is_call ? registers & kCalleeSaved : registers;
  }

  void follow(std::size_t index) {
    const Instruction& one = code_[index];
    const RegisterMask registers = after(one, holds_[index].registers);
    if (one.kind == Kind::Jump || one.kind == Kind::ConditionalJump) {
      reach(one.target, registers);
    }
    const bool ends = one.kind == Kind::Jump || one.kind == Kind::IndirectJump ||
                      one.kind == Kind::Return || one.kind == Kind::Unknown;
    if (!ends) {
      reach(static_cast<std::int64_t>(one.limit()), registers);
    }
  }

  std::span<const Instruction> code_;
  std::vector<State> holds_;
  std::vector<std::size_t> waiting_;
};

}  // namespace

std::vector<ResultStore> find_result_stores(const FunctionCode& code) {
  std::vector<ResultStore> stores;
  const auto instructions = is_x86_64(code) ? decode_x86(code.bytes) : std::vector<Instruction>();
  if (instructions.empty() || has_indirect_jump(instructions)) {
    return stores;
  }
  const ArgumentFlow flow(instructions);
  const auto targets = branch_targets(instructions);
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& one = instructions[i];
    const bool is_store = one.move && one.move->to_memory &&
                          (flow.at(i) & mask_of(one.move->destination)) != 0 &&
                          (flow.at(i) & mask_of(one.move->source)) == 0;
    if (is_store) {
      const bool other_ways =
          std::ranges::binary_search(targets, static_cast<std::int64_t>(one.limit()));
      stores.push_back({other_ways ? one.offset : one.limit(), one.move->source});
    }
  }
  return stores;
}

ReturnPlaces find_return_places(const FunctionCode& code) {
  ReturnPlaces places;
  if (!is_x86_64(code)) {
    places.is_complete = false;
    return places;
  }
  const auto size_bytes = static_cast<std::int64_t>(code.bytes.size());
  for (const Instruction& one : decode_x86(code.bytes)) {
    const bool leaves = (one.kind == Kind::Jump || one.kind == Kind::ConditionalJump) &&
                        (one.target < 0 || one.target >= size_bytes);
    if (one.kind == Kind::Return) {
      places.returns.push_back(one.offset);
    } else if (leaves) {
      places.tail_calls.push_back({one.offset, one.target});
    } else if (one.kind == Kind::IndirectJump) {
      places.is_complete = false;
    }
  }
  return places;
}

}  // namespace memtrace
