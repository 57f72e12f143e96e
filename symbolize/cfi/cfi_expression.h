// Evaluates the DWARF expressions of call frame information (DWARF 5, sections 2.5 and 6.4): signal
// frames, PLT stubs and functions that realign their stack say with them where things are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "symbolize/cfi/register_file.h"

namespace memtrace {

// One operation with its operands, as libdw decodes it.
struct CfiOperation {
  std::uint8_t code = 0;  // DW_OP_*
  std::uint64_t number = 0;
  std::uint64_t number2 = 0;
  std::uint64_t offset_bytes = 0;  // in the expression: what branches aim at
};

using CfiExpression = std::vector<CfiOperation>;

struct CfiContext {
  const RegisterFile& registers;
  StackBytes stack;
  std::optional<std::uint64_t> cfa;  // nothing while the CFA itself is being computed
};

// UnknownRegister: its value was not kept on the way to this frame. Unreadable: it points outside
// of the copied stack. Unsupported: not an operation of call frame information.
enum class CfiFailure : std::uint8_t { None, UnknownRegister, Unreadable, Unsupported };

struct CfiValue {
  std::uint64_t value = 0;
  CfiFailure failure = CfiFailure::None;

  bool ok() const { return failure == CfiFailure::None; }
};

// What is on top of the expression's stack at its end.
CfiValue evaluate(const CfiExpression& expression, const CfiContext& context);

// Where a register's expression leads: a value (DW_OP_stack_value), another register (DW_OP_regx),
// or the word at an address.
CfiValue evaluate_register(const CfiExpression& expression, const CfiContext& context);

}  // namespace memtrace
