// The arguments of SDT probes: operands of an assembler, made into fetch arguments of a uprobe.
#include <array>

#include "base/text.h"
#include "symbolize/code/sdt_notes.h"

namespace memtrace {
namespace {

// As the kernel's regs_query_register_offset() knows them on x86-64.
constexpr std::array<std::string_view, 16> kRegisters = {"ax",
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

// The registers' names of 64, 32, 16 and 8 bits; ah, bh, ch and dh cannot be fetched.
bool is_form_of(std::string_view name, std::string_view kernel_name) {
  const std::string base(kernel_name);
  if (base[0] == 'r') {
    return name == base || name == base + "d" || name == base + "w" || name == base + "b";
  }
  const std::string low = base[1] == 'x' ? base.substr(0, 1) : base;
  return name == base || name == "r" + base || name == "e" + base || name == low + "l";
}

std::string kernel_register(std::string_view operand) {
  if (!operand.starts_with('%')) {
    return "";
  }
  for (const std::string_view known : kRegisters) {
    if (is_form_of(operand.substr(1), known)) {
      return "%" + std::string(known);
    }
  }
  return "";
}

// The magnitude of the lowest std::int64_t.
constexpr std::uint64_t kLowestMagnitude = std::uint64_t{1} << 63;

std::optional<std::int64_t> signed_number(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  text.remove_prefix(is_negative || text.starts_with('+') ? 1 : 0);
  const auto number = text.starts_with("0x") ? parse_number(text, 16) : parse_number(text);
  if (!number) {
    return std::nullopt;
  }
  if (*number >= kLowestMagnitude) {
    return std::nullopt;  // no displacement is so large
  }
  const auto value = static_cast<std::int64_t>(*number);
  return is_negative ? -value : value;
}

// "mp_+88", "88+mp_", "mp_": a symbol and what is added to it.
std::optional<std::int64_t> symbol_offset(std::string_view text, const SdtSymbols& symbols) {
  std::int64_t sum = 0;
  std::string_view symbol;
  while (!text.empty()) {
    const std::size_t next = text.find_first_of("+-", 1);
    std::string_view term = text.substr(0, next);
    text.remove_prefix(term.size());
    if (const auto number = signed_number(term)) {
      sum += *number;
      continue;
    }
    term.remove_prefix(term.starts_with('+') ? 1 : 0);
    if (!symbol.empty() || term.starts_with('-')) {
      return std::nullopt;
    }
    symbol = term;
  }
  const auto place = symbol.empty() ? std::nullopt : symbols(symbol);
  return place ? std::optional(*place + sum) : std::nullopt;
}

std::string with_sign(std::int64_t value) {
  return (value < 0 ? "" : "+") + std::to_string(value);
}

std::string fetch_global(std::string_view place, const SdtSymbols& symbols) {
  const auto offset = symbol_offset(place, symbols);
  return offset && *offset >= 0 ? "@" + with_sign(*offset) : "";
}

// disp(%base), symbol(%rip), or symbol alone in code for fixed addresses; an index cannot be
// fetched, nor can another segment.
std::string fetch_memory(std::string_view operand, const SdtSymbols& symbols) {
  const std::size_t open = operand.find('(');
  if (open == std::string_view::npos) {
    return fetch_global(operand, symbols);
  }
  if (!operand.ends_with(')')) {
    return "";
  }
  const std::string_view before = operand.substr(0, open);
  const std::string_view base = operand.substr(open + 1, operand.size() - open - 2);
  if (base == "%rip") {
    return fetch_global(before, symbols);
  }
  const auto displacement = before.empty() ? std::int64_t{0} : signed_number(before);
  const std::string name = kernel_register(base);
  return displacement && !name.empty() ? with_sign(*displacement) + "(" + name + ")" : "";
}

// "$5", "$-3", "$0x10", "$18446744073709551615": as wide as a register, whatever its sign. A
// symbol's address is no constant: it moves with the file.
std::string fetch_constant(std::string_view number) {
  const bool is_negative = number.starts_with('-');
  number.remove_prefix(is_negative ? 1 : 0);
  const auto value = number.starts_with("0x") ? parse_number(number, 16) : parse_number(number);
  const bool fits = value && (!is_negative || *value <= kLowestMagnitude);
  return fits ? (is_negative ? "\\-" : "\\") + std::to_string(*value) : "";
}

std::string fetch_operand(std::string_view operand, const SdtSymbols& symbols) {
  if (operand.starts_with('$')) {
    return fetch_constant(operand.substr(1));
  }
  return operand.starts_with('%') ? kernel_register(operand) : fetch_memory(operand, symbols);
}

// "-4" is s32; "8f", a floating-point number, is nothing that a uprobe knows.
std::string type_of(std::string_view width) {
  const auto bytes = signed_number(width);
  if (!bytes) {
    return "";
  }
  const std::int64_t size_bytes = *bytes < 0 ? -*bytes : *bytes;
  const bool is_known = size_bytes == 1 || size_bytes == 2 || size_bytes == 4 || size_bytes == 8;
  return is_known ? (*bytes < 0 ? "s" : "u") + std::to_string(size_bytes * 8) : "";
}

}  // namespace

std::vector<SdtArgument> parse_sdt_arguments(std::string_view text, const SdtSymbols& symbols) {
  std::vector<SdtArgument> arguments;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) {
      continue;
    }
    const std::size_t at = word.find('@');
    const std::string type = at == std::string_view::npos ? "" : type_of(word.substr(0, at));
    std::string fetch = type.empty() ? "" : fetch_operand(word.substr(at + 1), symbols);
    if (!fetch.empty()) {
      fetch.append(":").append(type);
    }
    arguments.push_back({std::string(word), std::move(fetch)});
  }
  return arguments;
}

std::string fetch_arguments(const SdtProbe& probe) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < probe.arguments.size(); ++i) {
    if (!probe.arguments[i].fetch.empty()) {
      words.push_back("arg" + std::to_string(i + 1) + "=" + probe.arguments[i].fetch);
    }
  }
  return join(words, " ");
}

}  // namespace memtrace
