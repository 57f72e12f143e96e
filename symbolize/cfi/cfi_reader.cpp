#include "symbolize/cfi/cfi_reader.h"

#include <dwarf.h>

#include <array>
#include <span>
#include <utility>

#include "os/host_machine.h"
#include "symbolize/cfi/cfi_check.h"

namespace memtrace {
namespace {

#if defined(__aarch64__)
constexpr std::uint16_t kHostElfMachine = EM_AARCH64;
#elif defined(__x86_64__)
constexpr std::uint16_t kHostElfMachine = EM_X86_64;
#endif

// Where a register of the caller is. libdw describes it in DWARF operations: none and no storage
// for "not changed", none but storage for "undefined", CFA + constant for a place on the stack.
struct SavedRegister {
  enum class Where : std::uint8_t { Unchanged, Undefined, AtOffset, Elsewhere };
  Where where = Where::Elsewhere;
  std::int64_t offset_bytes = 0;
  CfiExpression expression;
};

CfiExpression copied(std::span<const Dwarf_Op> operations) {
  CfiExpression expression;
  for (const Dwarf_Op& operation : operations) {
    expression.push_back({.code = operation.atom,
                          .number = operation.number,
                          .number2 = operation.number2,
                          .offset_bytes = operation.offset});
  }
  return expression;
}

SavedRegister saved_register(Dwarf_Frame* frame, int number) {
  using Where = SavedRegister::Where;
  std::array<Dwarf_Op, 3> storage{};
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  if (::dwarf_frame_register(frame, number, storage.data(), &ops, &count) != 0) {
    return {Where::Undefined, 0, {}};
  }
  if (count == 0) {
    return {ops == nullptr ? Where::Unchanged : Where::Undefined, 0, {}};
  }
  SavedRegister saved{Where::Elsewhere, 0, copied({ops, count})};
  const bool from_cfa = ops[0].atom == DW_OP_call_frame_cfa;
  if (from_cfa && count == 1) {
    saved.where = Where::AtOffset;
  } else if (from_cfa && count == 2 && ops[1].atom == DW_OP_plus_uconst) {
    saved.where = Where::AtOffset;
    saved.offset_bytes = static_cast<std::int64_t>(ops[1].number);  // modulo 2^64
  }
  return saved;
}

// As FrameRule keeps it; nothing when it cannot.
std::optional<std::int16_t> short_offset(const SavedRegister& saved) {
  using Where = SavedRegister::Where;
  if (saved.where == Where::Unchanged) {
    return FrameRule::kInRegister;
  }
  const auto offset = static_cast<std::int16_t>(saved.offset_bytes);
  const bool fits = offset == saved.offset_bytes && offset != FrameRule::kInRegister;
  return saved.where == Where::AtOffset && fits ? std::optional(offset) : std::nullopt;
}

std::span<const Dwarf_Op> cfa_operations(Dwarf_Frame* frame) {
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  return ::dwarf_frame_cfa(frame, &ops, &count) == 0 ? std::span<const Dwarf_Op>(ops, count)
                                                     : std::span<const Dwarf_Op>();
}

struct CfaPlace {
  std::uint8_t number = 0;
  std::int32_t offset_bytes = 0;
};

std::optional<CfaPlace> register_and_offset(std::span<const Dwarf_Op> operations) {
  if (operations.size() != 1) {
    return std::nullopt;
  }
  const Dwarf_Op& operation = operations.front();
  Dwarf_Word number = RegisterFile::kMost;
  Dwarf_Word offset = 0;
  if (operation.atom >= DW_OP_breg0 && operation.atom <= DW_OP_breg31) {
    number = static_cast<Dwarf_Word>(operation.atom - DW_OP_breg0);
    offset = operation.number;
  } else if (operation.atom == DW_OP_bregx) {
    number = operation.number;
    offset = operation.number2;
  }
  const auto short_form = static_cast<std::int32_t>(offset);
  if (number >= RegisterFile::kMost || static_cast<Dwarf_Word>(short_form) != offset) {
    return std::nullopt;
  }
  return CfaPlace{static_cast<std::uint8_t>(number), short_form};
}

FrameRule make_rule(Dwarf_Frame* frame) {
  bool is_signal_frame = false;
  const int ra_number = ::dwarf_frame_info(frame, nullptr, nullptr, &is_signal_frame);
  const auto return_address = saved_register(frame, ra_number);
  FrameRule rule;
  if (return_address.where == SavedRegister::Where::Undefined) {
    rule.kind = FrameRule::Kind::Outermost;
    return rule;
  }
  const auto cfa = register_and_offset(cfa_operations(frame));
  const auto ra_offset = short_offset(return_address);
  const auto fp_offset = short_offset(saved_register(frame, kHostRegisters.frame_pointer));
  const bool ra_is_left = ra_offset == FrameRule::kInRegister && kHostElfMachine != EM_AARCH64;
  if (!cfa || !ra_offset || !fp_offset || ra_is_left || is_signal_frame) {
    return rule;
  }
  return {.kind = FrameRule::Kind::Simple,
          .cfa_register = cfa->number,
          .ra_offset_bytes = *ra_offset,
          .fp_offset_bytes = *fp_offset,
          .cfa_offset_bytes = cfa->offset_bytes};
}

FullFrameRule make_full_rule(Dwarf_Frame* frame) {
  using Where = SavedRegister::Where;
  FullFrameRule rule;
  const int ra_number = ::dwarf_frame_info(frame, nullptr, nullptr, &rule.is_signal_frame);
  rule.return_address = static_cast<std::uint8_t>(ra_number);
  rule.cfa = copied(cfa_operations(frame));
  for (std::uint8_t number = 0; number < kHostRegisters.count; ++number) {
    SavedRegister saved = saved_register(frame, number);
    if (saved.where == Where::Undefined) {
      rule.lost.push_back(number);
    } else if (saved.where != Where::Unchanged) {
      rule.saved.emplace_back(number, std::move(saved.expression));
    }
  }
  return rule;
}

}  // namespace

CfiReader::CfiReader(ElfFile file, std::string mapped_path, DebugPlaces places)
    : file_(std::move(file)), mapped_path_(std::move(mapped_path)), places_(std::move(places)) {
  if (file_.machine() != kHostElfMachine) {
    tried_debug_frame_ = true;
    return;
  }
  if (is_modest_eh_frame(file_)) {
    eh_frame_.reset(::dwarf_getcfi_elf(file_.handle()));
  }
  if (eh_frame_ == nullptr) {
    open_debug_frame();
  }
}

bool CfiReader::has_rules() const {
  return eh_frame_ != nullptr || debug_frame_ != nullptr;
}

// Late, and only for files that have the section: libdw reads, and decompresses, all the DWARF of
// a file that it opens.
void CfiReader::open_debug_frame() {
  tried_debug_frame_ = true;
  const ElfFile* holder = file_.section(".debug_frame") ? &file_ : nullptr;
  if (holder == nullptr) {
    debug_file_ = find_debug_file(file_, mapped_path_, places_);
    holder = debug_file_ && debug_file_->section(".debug_frame") ? &*debug_file_ : nullptr;
  }
  if (holder == nullptr) {
    return;
  }
  debug_svma_minus_own_ = holder->base_svma() - file_.base_svma();
  auto dwarf = DwarfFile::open(*holder);
  if (dwarf.ok() && is_modest_debug_frame(*holder)) {
    dwarf_ = dwarf.take();
    debug_frame_ = ::dwarf_getcfi(dwarf_->handle());
  }
}

CfiReader::Frame CfiReader::frame_at(std::uint64_t file_offset) {
  const auto svma = file_.svma_of(file_offset);
  Dwarf_Frame* frame = nullptr;
  if (!svma) {
    return nullptr;
  }
  if (eh_frame_ != nullptr && ::dwarf_cfi_addrframe(eh_frame_.get(), *svma, &frame) == 0) {
    return Frame(frame);
  }
  if (!tried_debug_frame_) {
    open_debug_frame();
  }
  const bool found =
      debug_frame_ != nullptr &&
      ::dwarf_cfi_addrframe(debug_frame_, *svma + debug_svma_minus_own_, &frame) == 0;
  return Frame(found ? frame : nullptr);
}

std::optional<FrameRule> CfiReader::rule(std::uint64_t file_offset) {
  const Frame frame = frame_at(file_offset);
  return frame == nullptr ? std::nullopt : std::optional(make_rule(frame.get()));
}

std::optional<FullFrameRule> CfiReader::full_rule(std::uint64_t file_offset) {
  const Frame frame = frame_at(file_offset);
  return frame == nullptr ? std::nullopt : std::optional(make_full_rule(frame.get()));
}

}  // namespace memtrace
