#include "symbolize/frame_rule.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <array>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "symbolize/elf_file.h"

namespace memtrace {

namespace {

// Numbers that the ABIs give to registers in DWARF; they have no meaning across architectures.
struct Registers {
  int stack_pointer = -1;
  int frame_pointer = -1;
};

Registers registers_of(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return {7, 6};
    case EM_386:
      return {4, 5};
    case EM_AARCH64:
      return {31, 29};
    default:
      return {};
  }
}

struct EndDwarf {
  void operator()(Dwarf* dwarf) const { ::dwarf_end(dwarf); }
};

struct EndCfi {
  void operator()(Dwarf_CFI* cfi) const { ::dwarf_cfi_end(cfi); }
};

struct FreeFrame {
  void operator()(Dwarf_Frame* frame) const { std::free(frame); }
};

using Frame = std::unique_ptr<Dwarf_Frame, FreeFrame>;

Frame frame_at(Dwarf_CFI* cfi, std::uint64_t svma) {
  Dwarf_Frame* frame = nullptr;
  if (cfi == nullptr || ::dwarf_cfi_addrframe(cfi, svma, &frame) != 0) {
    return nullptr;
  }
  return Frame(frame);
}

// Where a register of the caller is. libdw describes it in DWARF operations: none and no storage
// for "not changed", none but storage for "undefined", CFA + constant for a place on the stack.
struct SavedRegister {
  enum class Where : std::uint8_t { Unchanged, Undefined, AtOffset, Elsewhere };
  Where where = Where::Elsewhere;
  std::int64_t offset_bytes = 0;
};

SavedRegister saved_register(Dwarf_Frame* frame, int number) {
  using Where = SavedRegister::Where;
  std::array<Dwarf_Op, 3> storage{};
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  if (::dwarf_frame_register(frame, number, storage.data(), &ops, &count) != 0) {
    return {};
  }
  if (count == 0) {
    return {ops == nullptr ? Where::Unchanged : Where::Undefined, 0};
  }
  const bool from_cfa = ops[0].atom == DW_OP_call_frame_cfa;
  if (from_cfa && count == 1) {
    return {Where::AtOffset, 0};
  }
  if (from_cfa && count == 2 && ops[1].atom == DW_OP_plus_uconst) {
    return {Where::AtOffset, static_cast<std::int64_t>(ops[1].number)};  // modulo 2^64
  }
  return {};
}

struct CfaRule {
  FrameRule::Base base = FrameRule::Base::Other;
  std::int64_t offset_bytes = 0;
};

CfaRule cfa_rule(Dwarf_Frame* frame, const Registers& registers) {
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  if (::dwarf_frame_cfa(frame, &ops, &count) != 0 || count != 1) {
    return {};
  }
  int number = -1;
  Dwarf_Word offset = 0;
  if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
    number = ops[0].atom - DW_OP_breg0;
    offset = ops[0].number;
  } else if (ops[0].atom == DW_OP_bregx) {
    number = static_cast<int>(ops[0].number);
    offset = ops[0].number2;
  }
  if (number < 0 || (number != registers.stack_pointer && number != registers.frame_pointer)) {
    return {};
  }
  const bool is_stack_pointer = number == registers.stack_pointer;
  return {is_stack_pointer ? FrameRule::Base::StackPointer : FrameRule::Base::FramePointer,
          static_cast<std::int64_t>(offset)};
}

FrameRule make_rule(Dwarf_Frame* frame, const Registers& registers) {
  using Where = SavedRegister::Where;
  Dwarf_Addr start = 0;
  Dwarf_Addr limit = 0;
  bool is_signal_frame = false;
  const int ra_number = ::dwarf_frame_info(frame, &start, &limit, &is_signal_frame);
  const auto return_address = saved_register(frame, ra_number);
  const auto frame_pointer = saved_register(frame, registers.frame_pointer);
  FrameRule rule;
  rule.is_outermost = return_address.where == Where::Undefined;
  if (return_address.where != Where::AtOffset || frame_pointer.where == Where::Elsewhere) {
    return rule;
  }
  const auto cfa = cfa_rule(frame, registers);
  rule.base = cfa.base;
  rule.cfa_offset_bytes = cfa.offset_bytes;
  rule.ra_offset_bytes = return_address.offset_bytes;
  if (frame_pointer.where == Where::AtOffset) {
    rule.fp_offset_bytes = frame_pointer.offset_bytes;
  }
  return rule;
}

}  // namespace

struct FrameRules::State {
  explicit State(ElfFile elf) : file(std::move(elf)), registers(registers_of(file.machine())) {
    eh_frame.reset(::dwarf_getcfi_elf(file.handle()));
    dwarf.reset(::dwarf_begin_elf(file.handle(), DWARF_C_READ, nullptr));
    debug_frame = dwarf == nullptr ? nullptr : ::dwarf_getcfi(dwarf.get());
  }

  bool has_rules() const {
    return registers.stack_pointer >= 0 && (eh_frame != nullptr || debug_frame != nullptr);
  }

  std::optional<FrameRule> compute(std::uint64_t file_offset) const {
    const auto svma = file.svma_of(file_offset);
    if (!svma) {
      return std::nullopt;
    }
    Frame frame = frame_at(eh_frame.get(), *svma);
    if (frame == nullptr) {
      frame = frame_at(debug_frame, *svma);
    }
    return frame == nullptr ? std::nullopt : std::optional(make_rule(frame.get(), registers));
  }

  ElfFile file;
  Registers registers;
  std::unique_ptr<Dwarf, EndDwarf> dwarf;
  std::unique_ptr<Dwarf_CFI, EndCfi> eh_frame;
  Dwarf_CFI* debug_frame = nullptr;  // dwarf owns it
  std::unordered_map<std::uint64_t, std::optional<FrameRule>> by_offset;
};

std::unique_ptr<FrameRules> FrameRules::open(const std::string& path) {
  auto file = ElfFile::open(path);
  if (!file.ok()) {
    return nullptr;
  }
  auto state = std::make_unique<State>(file.take());
  if (!state->has_rules()) {
    return nullptr;
  }
  return std::unique_ptr<FrameRules>(new FrameRules(std::move(state)));
}

FrameRules::FrameRules(std::unique_ptr<State> state) : state_(std::move(state)) {}

FrameRules::~FrameRules() = default;

std::optional<FrameRule> FrameRules::at(std::uint64_t file_offset) {
  const auto [place, is_new] = state_->by_offset.try_emplace(file_offset);
  if (is_new) {
    place->second = state_->compute(file_offset);
  }
  return place->second;
}

}  // namespace memtrace
