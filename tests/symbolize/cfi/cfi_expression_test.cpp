#include "symbolize/cfi/cfi_expression.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include <array>

namespace memtrace {
namespace {

constexpr std::uint8_t kStackPointer = 7;
constexpr std::uint64_t kStackStart = 0x7ffe0000;

class CfiExpressionTest : public testing::Test {
 protected:
  CfiExpressionTest() { registers_.set(kStackPointer, kStackStart); }

  CfiContext context(std::optional<std::uint64_t> cfa = std::nullopt) const {
    return {registers_, StackBytes(kStackStart, std::as_bytes(std::span(words_))), cfa};
  }

  std::uint64_t value_of(const CfiExpression& expression) const {
    const CfiValue value = evaluate(expression, context());
    EXPECT_TRUE(value.ok());
    return value.value;
  }

  CfiFailure failure_of(const CfiExpression& expression) const {
    return evaluate(expression, context()).failure;
  }

  RegisterFile registers_;
  std::array<std::uint64_t, 4> words_ = {11, 22, 0xffffffff'00000033U, 44};
};

CfiOperation op(std::uint8_t code, std::uint64_t number = 0) {
  return {.code = code, .number = number};
}

CfiOperation op_at(std::uint64_t offset, std::uint8_t code, std::uint64_t number = 0) {
  return {.code = code, .number = number, .offset_bytes = offset};
}

TEST_F(CfiExpressionTest, registers_constants_and_memory) {
  EXPECT_EQ(value_of({op(DW_OP_breg7, 8)}), kStackStart + 8);
  EXPECT_EQ(value_of({{.code = DW_OP_bregx, .number = 7, .number2 = ~std::uint64_t{7}}}),
            kStackStart - 8);
  EXPECT_EQ(value_of({op(DW_OP_lit0 + 17)}), 17U);
  EXPECT_EQ(value_of({op(DW_OP_const4u, 4711)}), 4711U);
  EXPECT_EQ(value_of({op(DW_OP_breg7, 8), op(DW_OP_deref)}), 22U);
  EXPECT_EQ(value_of({op(DW_OP_breg7, 16), op(DW_OP_deref_size, 4)}), 0x33U);
}

// binutils writes it for each lazy PLT: behind the 11th byte of a stub's 16, a word more is pushed.
TEST_F(CfiExpressionTest, plt_stub_is_higher_once_it_has_pushed_its_number) {
  const CfiExpression plt = {op(DW_OP_breg7, 8),
                             op(DW_OP_breg16, 0),
                             op(DW_OP_lit15),
                             op(DW_OP_and),
                             op(DW_OP_lit11),
                             op(DW_OP_ge),
                             op(DW_OP_lit3),
                             op(DW_OP_shl),
                             op(DW_OP_plus)};
  registers_.set(16, 0x401026);
  EXPECT_EQ(value_of(plt), kStackStart + 8);
  registers_.set(16, 0x40102b);
  EXPECT_EQ(value_of(plt), kStackStart + 16);
}

TEST_F(CfiExpressionTest, arithmetic_is_signed_where_dwarf_says_so) {
  const std::uint64_t minus_two = 0 - std::uint64_t{2};
  EXPECT_EQ(value_of({op(DW_OP_consts, minus_two), op(DW_OP_lit1), op(DW_OP_lt)}), 1U);
  EXPECT_EQ(value_of({op(DW_OP_consts, minus_two), op(DW_OP_abs)}), 2U);
  EXPECT_EQ(value_of({op(DW_OP_consts, minus_two), op(DW_OP_lit1), op(DW_OP_shra)}),
            ~std::uint64_t{0});
  EXPECT_EQ(value_of({op(DW_OP_lit9), op(DW_OP_lit4), op(DW_OP_minus)}), 5U);
  EXPECT_EQ(value_of({op(DW_OP_lit9), op(DW_OP_lit4), op(DW_OP_mod)}), 1U);
}

TEST_F(CfiExpressionTest, entries_are_moved_about) {
  EXPECT_EQ(value_of({op(DW_OP_lit9), op(DW_OP_lit4), op(DW_OP_swap), op(DW_OP_minus)}),
            0 - std::uint64_t{5});
  EXPECT_EQ(value_of({op(DW_OP_lit1), op(DW_OP_lit2), op(DW_OP_lit3), op(DW_OP_rot)}), 2U);
  EXPECT_EQ(value_of({op(DW_OP_lit1), op(DW_OP_lit2), op(DW_OP_over)}), 1U);
  EXPECT_EQ(value_of({op(DW_OP_lit1), op(DW_OP_lit2), op(DW_OP_pick, 1)}), 1U);
  EXPECT_EQ(value_of({op(DW_OP_lit1), op(DW_OP_lit2), op(DW_OP_drop)}), 1U);
}

TEST_F(CfiExpressionTest, branches_skip_what_is_between) {
  // if (top) goto 6; lit1; skip to the end; 7: lit2
  const auto chosen = [this](std::uint8_t condition) {
    return value_of({op_at(0, condition),
                     op_at(1, DW_OP_bra, 4),
                     op_at(4, DW_OP_lit1),
                     op_at(5, DW_OP_skip, 1),
                     op_at(8, DW_OP_lit2)});
  };
  EXPECT_EQ(chosen(DW_OP_lit1), 2U);
  EXPECT_EQ(chosen(DW_OP_lit0), 1U);
}

TEST_F(CfiExpressionTest, endless_loop_is_given_up) {
  EXPECT_EQ(failure_of({op_at(0, DW_OP_skip, 0 - std::uint64_t{3})}), CfiFailure::Unsupported);
}

TEST_F(CfiExpressionTest, what_cannot_be_known_is_told_apart) {
  EXPECT_EQ(failure_of({op(DW_OP_breg12, 0)}), CfiFailure::UnknownRegister);
  EXPECT_EQ(failure_of({op(DW_OP_breg7, 32), op(DW_OP_deref)}), CfiFailure::Unreadable);
  EXPECT_EQ(failure_of({op(DW_OP_breg7, 0 - std::uint64_t{8}), op(DW_OP_deref)}),
            CfiFailure::Unreadable);
  EXPECT_EQ(failure_of({op(DW_OP_piece, 4)}), CfiFailure::Unsupported);
  EXPECT_EQ(failure_of({}), CfiFailure::Unsupported);
  EXPECT_EQ(failure_of({op(DW_OP_lit1), op(DW_OP_lit0), op(DW_OP_mod)}), CfiFailure::Unsupported);
}

TEST_F(CfiExpressionTest, register_is_at_an_address_in_a_register_or_a_value) {
  const CfiContext at_cfa = context(kStackStart + 16);
  const CfiExpression saved = {op(DW_OP_call_frame_cfa),
                               op(DW_OP_plus_uconst, 0 - std::uint64_t{8})};
  EXPECT_EQ(evaluate_register(saved, at_cfa).value, 22U);
  const CfiExpression value = {op(DW_OP_call_frame_cfa), op(DW_OP_stack_value)};
  EXPECT_EQ(evaluate_register(value, at_cfa).value, kStackStart + 16);
  EXPECT_EQ(evaluate_register({op(DW_OP_regx, 7)}, at_cfa).value, kStackStart);
  EXPECT_EQ(evaluate_register({op(DW_OP_regx, 3)}, at_cfa).failure, CfiFailure::UnknownRegister);
}

TEST(StackBytesTest, covers_whole_words_only) {
  const std::array<std::byte, 20> bytes{};
  const StackBytes stack(1000, bytes);
  EXPECT_TRUE(stack.covers(1000));
  EXPECT_TRUE(stack.covers(1012));
  EXPECT_FALSE(stack.covers(1013));
  EXPECT_FALSE(stack.covers(999));
  EXPECT_FALSE(StackBytes(1000, std::span(bytes).first(7)).covers(1000));
  EXPECT_FALSE(StackBytes().covers(0));
}

}  // namespace
}  // namespace memtrace
