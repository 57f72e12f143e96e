#include "symbolize/cfi/cfi_expression.h"

#include <dwarf.h>

#include <array>
#include <cstddef>

namespace memtrace {
namespace {

// More than any compiler writes; what needs more is no sensible expression.
constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxSteps = 256;

std::int64_t as_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

bool in_range(std::uint8_t code, int first, int last) {
  return code >= first && code <= last;
}

class Evaluation {
 public:
  Evaluation(const CfiExpression& expression, const CfiContext& context)
      : expression_(expression), context_(context) {}

  CfiValue run() {
    std::size_t steps = 0;
    for (std::size_t at = 0; at < expression_.size() && failure_ == CfiFailure::None;) {
      const CfiOperation& operation = expression_[at];
      at = is_branch(operation) ? branch(operation, at) : at + 1;
      if (!is_branch(operation)) {
        apply(operation);
      }
      if (++steps > kMaxSteps) {
        fail(CfiFailure::Unsupported);
      }
    }
    const std::uint64_t top = pop();
    return {top, failure_};
  }

 private:
  static bool is_branch(const CfiOperation& operation) {
    return operation.code == DW_OP_skip || operation.code == DW_OP_bra;
  }

  void fail(CfiFailure failure) { failure_ = failure_ == CfiFailure::None ? failure : failure_; }

  void push(std::uint64_t value) {
    if (depth_ == kMaxDepth) {
      fail(CfiFailure::Unsupported);
      return;
    }
    values_[depth_++] = value;
  }

  std::uint64_t pop() {
    if (depth_ == 0) {
      fail(CfiFailure::Unsupported);
      return 0;
    }
    return values_[--depth_];
  }

  // The entry so far below the top, which is 0.
  std::uint64_t peek(std::uint64_t below) {
    if (below >= depth_) {
      fail(CfiFailure::Unsupported);
      return 0;
    }
    return values_[depth_ - 1 - below];
  }

  std::size_t branch(const CfiOperation& operation, std::size_t at) {
    constexpr std::uint64_t kBranchBytes = 3;  // the operation and its 16-bit operand
    if (operation.code == DW_OP_bra && pop() == 0) {
      return at + 1;
    }
    const std::uint64_t target = operation.offset_bytes + kBranchBytes + operation.number;
    for (std::size_t i = 0; i < expression_.size(); ++i) {
      if (expression_[i].offset_bytes == target && expression_[i].code != DW_OP_call_frame_cfa) {
        return i;
      }
    }
    return expression_.size();
  }

  void push_register(std::uint64_t number, std::uint64_t offset) {
    if (!context_.registers.has(number)) {
      fail(CfiFailure::UnknownRegister);
      return;
    }
    push(context_.registers[number] + offset);
  }

  void load(std::uint64_t size_bytes) {
    const auto word = context_.stack.word(pop());
    if (!word || size_bytes == 0 || size_bytes > sizeof(*word)) {
      fail(CfiFailure::Unreadable);
      return;
    }
    push(size_bytes == sizeof(*word) ? *word : *word & ((std::uint64_t{1} << size_bytes * 8) - 1));
  }

  void apply(const CfiOperation& operation) {
    const std::uint8_t code = operation.code;
    if (in_range(code, DW_OP_breg0, DW_OP_breg31)) {
      push_register(static_cast<std::uint64_t>(code - DW_OP_breg0), operation.number);
    } else if (code == DW_OP_bregx) {
      push_register(operation.number, operation.number2);
    } else if (in_range(code, DW_OP_lit0, DW_OP_lit31)) {
      push(static_cast<std::uint64_t>(code - DW_OP_lit0));
    } else if (in_range(code, DW_OP_const1u, DW_OP_consts) || code == DW_OP_addr) {
      push(operation.number);
    } else if (code == DW_OP_deref || code == DW_OP_deref_size) {
      load(code == DW_OP_deref ? sizeof(std::uint64_t) : operation.number);
    } else if (code == DW_OP_call_frame_cfa) {
      push(context_.cfa.value_or(0));
    } else if (!move(operation) && !apply_to_one(operation)) {
      apply_to_two(code);
    }
  }

  // Operations that only move entries; false for all others.
  bool move(const CfiOperation& operation) {
    switch (operation.code) {
      case DW_OP_nop:
      case DW_OP_stack_value:
        return true;
      case DW_OP_dup:
        push(peek(0));
        return true;
      case DW_OP_over:
        push(peek(1));
        return true;
      case DW_OP_pick:
        push(peek(operation.number));
        return true;
      case DW_OP_drop:
        pop();
        return true;
      case DW_OP_swap:
        rotate(2);
        return true;
      case DW_OP_rot:
        rotate(3);
        return true;
      default:
        return false;
    }
  }

  // The top entry goes below the `count` - 1 under it.
  void rotate(std::size_t count) {
    if (depth_ < count) {
      fail(CfiFailure::Unsupported);
      return;
    }
    const std::uint64_t top = values_[depth_ - 1];
    for (std::size_t i = depth_ - 1; i > depth_ - count; --i) {
      values_[i] = values_[i - 1];
    }
    values_[depth_ - count] = top;
  }

  bool apply_to_one(const CfiOperation& operation) {
    switch (operation.code) {
      case DW_OP_plus_uconst:
        push(pop() + operation.number);
        return true;
      case DW_OP_neg:
        push(0 - pop());
        return true;
      case DW_OP_not:
        push(~pop());
        return true;
      case DW_OP_abs: {
        const std::uint64_t value = pop();
        push(as_signed(value) < 0 ? 0 - value : value);
        return true;
      }
      default:
        return false;
    }
  }

  void apply_to_two(std::uint8_t code) {
    const std::uint64_t right = pop();
    const std::uint64_t left = pop();
    const auto result = in_range(code, DW_OP_eq, DW_OP_ne) ? compare(code, left, right)
                                                           : compute(code, left, right);
    if (!result) {
      fail(CfiFailure::Unsupported);
      return;
    }
    push(*result);
  }

  // Signed, as DWARF 5 section 2.5.1.5 wants it.
  static std::optional<std::uint64_t> compare(std::uint8_t code,
                                              std::uint64_t left,
                                              std::uint64_t right) {
    const std::int64_t a = as_signed(left);
    const std::int64_t b = as_signed(right);
    // In the order of their codes: eq, ge, gt, le, lt, ne.
    const std::array<bool, 6> results = {a == b, a >= b, a > b, a <= b, a < b, a != b};
    return results[static_cast<std::size_t>(code - DW_OP_eq)] ? 1U : 0U;
  }

  static std::optional<std::uint64_t> compute(std::uint8_t code,
                                              std::uint64_t left,
                                              std::uint64_t right) {
    switch (code) {
      case DW_OP_plus:
        return left + right;
      case DW_OP_minus:
        return left - right;
      case DW_OP_mul:
        return left * right;
      case DW_OP_and:
        return left & right;
      case DW_OP_or:
        return left | right;
      case DW_OP_xor:
        return left ^ right;
      case DW_OP_shl:
        return right > 63 ? 0 : left << right;
      case DW_OP_shr:
        return right > 63 ? 0 : left >> right;
      case DW_OP_shra:
        return static_cast<std::uint64_t>(as_signed(left) >> (right > 63 ? 63 : right));
      case DW_OP_mod:
        return right == 0 ? std::nullopt : std::optional(left % right);
      default:
        return std::nullopt;  // DW_OP_div too: no compiler divides to find a frame
    }
  }

  const CfiExpression& expression_;
  const CfiContext& context_;
  std::array<std::uint64_t, kMaxDepth> values_{};
  std::size_t depth_ = 0;
  CfiFailure failure_ = CfiFailure::None;
};

}  // namespace

CfiValue evaluate(const CfiExpression& expression, const CfiContext& context) {
  return Evaluation(expression, context).run();
}

CfiValue evaluate_register(const CfiExpression& expression, const CfiContext& context) {
  const std::uint8_t last = expression.empty() ? std::uint8_t{DW_OP_nop} : expression.back().code;
  if (last == DW_OP_regx || in_range(last, DW_OP_reg0, DW_OP_reg31)) {
    const auto number = last == DW_OP_regx ? expression.back().number
                                           : static_cast<std::uint64_t>(last - DW_OP_reg0);
    return context.registers.has(number) ? CfiValue{context.registers[number], CfiFailure::None}
                                         : CfiValue{0, CfiFailure::UnknownRegister};
  }
  const CfiValue place = evaluate(expression, context);
  if (!place.ok() || last == DW_OP_stack_value) {
    return place;
  }
  const auto word = context.stack.word(place.value);
  return word ? CfiValue{*word, CfiFailure::None} : CfiValue{0, CfiFailure::Unreadable};
}

}  // namespace memtrace
