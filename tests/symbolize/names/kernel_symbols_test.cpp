#include "symbolize/names/kernel_symbols.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr const char* kKallsyms =
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000000 t first_function\n"
    "ffffffff81000100 T kfree\n"
    "ffffffff81000100 t __kfree_alias\n"
    "ffffffff81000180 D not_code\n"
    "ffffffff81000200 W weak_function\n"
    "ffffffff81000900 T _etext\n"
    "ffffffff82000000 D some_data\n"
    "ffffffffc0001000 t nft_do_chain\t[nf_tables]\n"
    "ffffffffc0001100 t nft_last\t[nf_tables]\n"
    "ffffffffc0900000 t bpf_prog_6deef7357e7b4530\t[bpf]\n";

std::string function_at(const KernelSymbols& symbols, std::uint64_t avma) {
  const auto match = symbols.find(avma);
  return match ? std::string(match->function) : "";
}

TEST(KernelSymbols, function_reaches_to_the_next_text_symbol) {
  const auto symbols = KernelSymbols::parse(kKallsyms);
  const auto match = symbols.find(0xffffffff810001ff);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->function, "kfree");
  EXPECT_EQ(match->module, "[kernel]");
  EXPECT_EQ(match->offset, 0xffU);
  EXPECT_EQ(function_at(symbols, 0xffffffff81000200), "weak_function");
}

TEST(KernelSymbols, function_is_preferred_to_section_marks_and_aliases) {
  const auto symbols = KernelSymbols::parse(kKallsyms);
  EXPECT_EQ(function_at(symbols, 0xffffffff81000000), "first_function");
  EXPECT_EQ(function_at(symbols, 0xffffffff81000100), "kfree");
}

TEST(KernelSymbols, module_functions_carry_their_module) {
  const auto symbols = KernelSymbols::parse(kKallsyms);
  const auto match = symbols.find(0xffffffffc0001010);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->function, "nft_do_chain");
  EXPECT_EQ(match->module, "[nf_tables]");
  EXPECT_EQ(symbols.find(0xffffffffc0900004)->module, "[bpf]");
}

// In proportion to the square of their number they take minutes.
TEST(KernelSymbols, many_modules_take_time_in_proportion_to_their_number) {
  std::string text;
  constexpr std::uint64_t kModules = 60'000;
  const auto address = [](std::uint64_t number) { return 0xffffffffc0000000U + number * 4096; };
  for (std::uint64_t i = 0; i < 2 * kModules; ++i) {
    text += fmt::format("{:x} t init_{}\t[module_{}]\n", address(i), i, i % kModules);
  }
  const KernelSymbols symbols = KernelSymbols::parse(std::move(text));
  for (const std::uint64_t number : {std::uint64_t{0}, kModules - 1, kModules + 2}) {
    const auto match = symbols.find(address(number));
    ASSERT_TRUE(match);
    EXPECT_EQ(match->module, fmt::format("[module_{}]", number % kModules));
  }
}

TEST(KernelSymbols, gaps_belong_to_no_function) {
  const auto symbols = KernelSymbols::parse(kKallsyms);
  EXPECT_EQ(function_at(symbols, 0xffffffff80000000), "");
  EXPECT_EQ(function_at(symbols, 0xffffffff81000900), "");
  EXPECT_EQ(function_at(symbols, 0xffffffff82000000), "");
  EXPECT_EQ(function_at(symbols, 0xffffffffc0001200), "nft_last");
  EXPECT_EQ(function_at(symbols, 0xffffffffc0500000), "");
}

TEST(KernelSymbols, zeros_are_recognized_as_hidden) {
  EXPECT_TRUE(KernelSymbols::parse("0000000000000000 T _text\n0000000000000000 t f\n").is_hidden());
  EXPECT_FALSE(KernelSymbols::parse(kKallsyms).is_hidden());
  EXPECT_FALSE(KernelSymbols::parse("").is_hidden());
}

TEST(KernelSymbols, malformed_lines_are_skipped) {
  const auto symbols = KernelSymbols::parse(
      "\nnonsense\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
      "ffffffff81000010 t good");
  EXPECT_EQ(function_at(symbols, 0xffffffff81000010), "good");
  EXPECT_EQ(function_at(symbols, 0xffffffff81000000), "");
}

TEST(KernelSymbols, caveat_says_what_to_do) {
  const std::string caveat = hidden_symbols_caveat("/proc/kallsyms");
  EXPECT_NE(caveat.find("sysctl -w kernel.kptr_restrict=0"), std::string::npos);
}

}  // namespace
}  // namespace memtrace
