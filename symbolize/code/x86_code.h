// The instructions of one x86-64 function as far as probe placement needs them, decoded by
// Capstone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace memtrace {

// General registers as bits of a mask; the names are the kernel's, without the leading r of 64
// bits.
enum class X86Register : std::uint8_t {
  Ax,
  Bx,
  Cx,
  Dx,
  Si,
  Di,
  Bp,
  Sp,
  R8,
  R9,
  R10,
  R11,
  R12,
  R13,
  R14,
  R15
};

using RegisterMask = std::uint32_t;

constexpr RegisterMask mask_of(X86Register name) {
  return RegisterMask{1} << static_cast<unsigned>(name);
}

// "di", "r12": as a uprobe's fetch argument has it behind the %.
std::string_view name_of(X86Register name);

enum class InstructionKind : std::uint8_t {
  Plain,
  Push,  // of a register
  Nop,   // of one byte: the form that all kernels emulate
  Jump,
  ConditionalJump,
  Call,
  IndirectJump,
  IndirectCall,
  Return,
  Unknown  // could not be decoded, or ends the program
};

// mov of 64 bits between registers, or from a register to where another one points exactly.
struct RegisterMove {
  X86Register source = X86Register::Ax;
  X86Register destination = X86Register::Ax;
  bool to_memory = false;  // destination holds the address
};

struct Instruction {
  std::uint64_t offset = 0;  // from the function's entry
  std::uint32_t size_bytes = 1;
  InstructionKind kind = InstructionKind::Plain;
  // For direct jumps and calls, from the entry; negative or behind the end: another function.
  std::int64_t target = 0;
  bool is_short_form = false;  // a branch that has no prefix and is not loop or jrcxz
  RegisterMask written = 0;    // callees' writes not included
  std::optional<std::int64_t> stack_bytes = 0;  // what is added to sp; nothing: not known
  std::optional<RegisterMove> move;

  bool has_target() const {
    return kind == InstructionKind::Jump || kind == InstructionKind::ConditionalJump ||
           kind == InstructionKind::Call;
  }

  std::uint64_t limit() const { return offset + size_bytes; }
};

// One after the other from the entry to the end; a byte that is no instruction is one of kind
// Unknown.
std::vector<Instruction> decode_x86(std::span<const std::byte> code);

// The one that begins at this offset, or null.
const Instruction* instruction_at(std::span<const Instruction> code, std::int64_t offset);

// Where this function's branches and calls lead, ascending.
std::vector<std::int64_t> branch_targets(std::span<const Instruction> code);

}  // namespace memtrace
