#include "symbolize/code/x86_code.h"

#include <capstone/capstone.h>

#include <algorithm>
#include <array>
#include <memory>

namespace memtrace {
namespace {

// All widths of each general register, in the order of X86Register.
constexpr std::array<std::array<x86_reg, 5>, 16> kWidths = {{
    {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
    {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
    {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
    {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
    {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
    {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
    {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
    {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
    {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
    {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
    {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
    {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
    {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
    {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
    {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
    {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
}};

constexpr std::array<std::string_view, 16> kNames = {"ax",
                                                     "bx",
                                                     "cx",
                                                     "dx",
                                                     "si",
                                                     "di",
                                                     "bp",
                                                     "sp",
                                                     "r8",
                                                     "r9",
                                                     "r10",
                                                     "r11",
                                                     "r12",
                                                     "r13",
                                                     "r14",
                                                     "r15"};

std::optional<X86Register> find_register(unsigned name) {
  for (std::size_t i = 0; name != X86_REG_INVALID && i < kWidths.size(); ++i) {
    const auto& widths = kWidths[i];
    if (std::find(widths.begin(), widths.end(), static_cast<x86_reg>(name)) != widths.end()) {
      return static_cast<X86Register>(i);
    }
  }
  return std::nullopt;
}

// Closes what cs_open(3) opened, and owns the one instruction that is decoded at a time.
class Decoder {
 public:
  Decoder() {
    usable_ = ::cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) == CS_ERR_OK &&
              ::cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK;
    instruction_.reset(usable_ ? ::cs_malloc(handle_) : nullptr);
  }

  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  Decoder(Decoder&&) = delete;
  Decoder& operator=(Decoder&&) = delete;

  ~Decoder() {
    instruction_.reset();
    ::cs_close(&handle_);
  }

  // Null for what is no instruction.
  const cs_insn* decode(std::span<const std::byte> code, std::uint64_t offset) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data()) + offset;
    std::size_t left_bytes = code.size() - offset;
    std::uint64_t position = offset;
    const bool decoded =
        instruction_ != nullptr &&
        ::cs_disasm_iter(handle_, &bytes, &left_bytes, &position, instruction_.get());
    return decoded ? instruction_.get() : nullptr;
  }

  RegisterMask written() const {
    cs_regs read{};
    cs_regs write{};
    std::uint8_t read_count = 0;
    std::uint8_t write_count = 0;
    RegisterMask mask = 0;
    if (::cs_regs_access(
            handle_, instruction_.get(), &read[0], &read_count, &write[0], &write_count) !=
        CS_ERR_OK) {
      return ~RegisterMask{0};
    }
    for (const auto name : std::span(write).first(write_count)) {
      const auto found = find_register(name);
      mask |= found ? mask_of(*found) : 0;
    }
    return mask;
  }

 private:
  struct Free {
    void operator()(cs_insn* instruction) const { ::cs_free(instruction, 1); }
  };

  csh handle_ = 0;
  bool usable_ = false;
  std::unique_ptr<cs_insn, Free> instruction_;
};

std::span<const cs_x86_op> operands_of(const cs_insn& source) {
  return std::span(source.detail->x86.operands).first(source.detail->x86.op_count);
}

bool in_group(const cs_insn& source, unsigned group) {
  const auto groups = std::span(source.detail->groups).first(source.detail->groups_count);
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

InstructionKind branch_kind(const cs_insn& source) {
  const auto operands = operands_of(source);
  const bool is_direct = operands.size() == 1 && operands[0].type == X86_OP_IMM;
  if (in_group(source, CS_GRP_CALL)) {
    return is_direct ? InstructionKind::Call : InstructionKind::IndirectCall;
  }
  if (!is_direct) {
    return InstructionKind::IndirectJump;
  }
  return source.id == X86_INS_JMP ? InstructionKind::Jump : InstructionKind::ConditionalJump;
}

InstructionKind kind_of(const cs_insn& source) {
  if (in_group(source, CS_GRP_CALL) || in_group(source, CS_GRP_JUMP)) {
    return branch_kind(source);
  }
  if (in_group(source, CS_GRP_RET)) {
    return InstructionKind::Return;
  }
  const bool ends = source.id == X86_INS_UD2 || source.id == X86_INS_HLT ||
                    source.id == X86_INS_INT3 || source.id == X86_INS_UD0;
  if (ends) {
    return InstructionKind::Unknown;
  }
  if (source.size == 1 && source.bytes[0] == 0x90) {
    return InstructionKind::Nop;
  }
  const auto operands = operands_of(source);
  const bool is_push = source.id == X86_INS_PUSH && operands[0].type == X86_OP_REG;
  return is_push ? InstructionKind::Push : InstructionKind::Plain;
}

// What branch_setup_ops() of the kernel's arch/x86/kernel/uprobes.c takes, less all prefixes.
bool is_short_form(const cs_insn& source) {
  const unsigned first = source.bytes[0];
  const unsigned second = source.bytes[1];
  return first == 0xEB || first == 0xE9 || first == 0xE8 || (first & 0xF0U) == 0x70 ||
         (first == 0x0F && (second & 0xF0U) == 0x80);
}

std::optional<std::int64_t> stack_bytes_of(const cs_insn& source, RegisterMask written) {
  if ((written & mask_of(X86Register::Sp)) == 0) {
    return 0;
  }
  const auto operands = operands_of(source);
  const bool is_plain = operands.size() == 1 && operands[0].type == X86_OP_REG &&
                        operands[0].size == 8 && operands[0].reg != X86_REG_RSP;
  if (source.id == X86_INS_PUSH && operands.size() == 1 && operands[0].size == 8) {
    return -8;
  }
  if (source.id == X86_INS_POP && is_plain) {
    return 8;
  }
  const bool is_sum = (source.id == X86_INS_SUB || source.id == X86_INS_ADD) &&
                      operands.size() == 2 && operands[1].type == X86_OP_IMM;
  if (is_sum) {
    return source.id == X86_INS_SUB ? -operands[1].imm : operands[1].imm;
  }
  return std::nullopt;
}

bool is_bare_address(const x86_op_mem& memory) {
  return memory.disp == 0 && memory.index == X86_REG_INVALID && memory.segment == X86_REG_INVALID;
}

std::optional<RegisterMove> move_of(const cs_insn& source) {
  const auto operands = operands_of(source);
  if (source.id != X86_INS_MOV || operands.size() != 2 || operands[1].type != X86_OP_REG ||
      operands[1].size != 8) {
    return std::nullopt;
  }
  const bool to_memory = operands[0].type == X86_OP_MEM;
  if (to_memory && !is_bare_address(operands[0].mem)) {
    return std::nullopt;
  }
  const auto from = find_register(operands[1].reg);
  const auto to = find_register(to_memory ? operands[0].mem.base : operands[0].reg);
  if (!from || !to) {
    return std::nullopt;
  }
  return RegisterMove{*from, *to, to_memory};
}

// endbr64, where every function of code built for CET begins: older Capstones do not know it.
bool is_endbr64(std::span<const std::byte> code) {
  constexpr std::array kEndbr64 = {
      std::byte{0xF3}, std::byte{0x0F}, std::byte{0x1E}, std::byte{0xFA}};
  return code.size() >= kEndbr64.size() &&
         std::equal(kEndbr64.begin(), kEndbr64.end(), code.begin());
}

Instruction decode_one(Decoder& decoder, std::span<const std::byte> code, std::uint64_t offset) {
  Instruction result{.offset = offset};
  if (is_endbr64(code.subspan(offset))) {
    result.size_bytes = 4;
    return result;
  }
  const cs_insn* source = decoder.decode(code, offset);
  if (source == nullptr) {
    result.kind = InstructionKind::Unknown;
    return result;
  }
  result.size_bytes = source->size;
  result.kind = kind_of(*source);
  result.written = decoder.written();
  result.stack_bytes = stack_bytes_of(*source, result.written);
  result.move = move_of(*source);
  if (result.has_target()) {
    result.target = operands_of(*source)[0].imm;
    result.is_short_form = is_short_form(*source);
  }
  return result;
}

}  // namespace

std::string_view name_of(X86Register name) {
  return kNames[static_cast<std::size_t>(name)];
}

std::vector<Instruction> decode_x86(std::span<const std::byte> code) {
  std::vector<Instruction> result;
  Decoder decoder;
  for (std::uint64_t offset = 0; offset < code.size(); offset = result.back().limit()) {
    result.push_back(decode_one(decoder, code, offset));
  }
  return result;
}

const Instruction* instruction_at(std::span<const Instruction> code, std::int64_t offset) {
  const auto found = std::lower_bound(
      code.begin(), code.end(), offset, [](const Instruction& one, std::int64_t wanted) {
        return static_cast<std::int64_t>(one.offset) < wanted;
      });
  const bool exists = found != code.end() && static_cast<std::int64_t>(found->offset) == offset;
  return exists ? &*found : nullptr;
}

std::vector<std::int64_t> branch_targets(std::span<const Instruction> code) {
  std::vector<std::int64_t> targets;
  for (const Instruction& one : code) {
    if (one.has_target()) {
      targets.push_back(one.target);
    }
  }
  std::ranges::sort(targets);
  return targets;
}

}  // namespace memtrace
