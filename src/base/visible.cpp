#include "base/visible.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace memtrace {
namespace {

// What the first bytes of a text are.
struct Character {
  std::uint32_t code = 0;
  std::size_t size_bytes = 0;  // 0: no UTF-8
};

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// RFC 3629: the shortest form alone, no surrogates, nothing above U+10FFFF.
Character first_character(std::string_view text) {
  constexpr std::array<std::size_t, 9> kSizes = {1, 0, 2, 3, 4, 0, 0, 0, 0};  // by leading ones
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t size_bytes = kSizes[static_cast<std::size_t>(std::countl_one(first))];
  if (size_bytes == 0 || text.size() < size_bytes) {
    return {};
  }
  std::uint32_t code = size_bytes == 1 ? first : first & (0x7FU >> size_bytes);
  for (std::size_t i = 1; i < size_bytes; ++i) {
    if (!is_continuation(text[i])) {
      return {};
    }
    code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool is_valid = code >= kSmallest[size_bytes] && code <= 0x10FFFF && !is_surrogate;
  return is_valid ? Character{code, size_bytes} : Character{};
}

// C0, DEL and C1 (terminals take U+009B for ESC [), and what UAX #9 and Unicode's line breaking
// take for orders.
bool is_order(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x61C || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

bool is_plain(char byte) {
  return byte >= 0x20 && byte < 0x7F;
}

bool is_layout(char byte) {
  return byte == '\n' || byte == '\t';
}

std::string escaped(std::string_view text, bool keeps_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::size_t taken = std::max<std::size_t>(character.size_bytes, 1);
    if (character.size_bytes == 0 || character.code < 0x80) {
      const bool is_fine = character.size_bytes == 1 &&
                           (!is_order(character.code) || (keeps_lines && is_layout(text.front())));
      out += is_fine ? std::string(1, text.front())
                     : fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (is_order(character.code)) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(character.code));
    } else {
      out += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace

std::string visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_plain) ? std::string(text) : escaped(text, false);
}

std::string visible_lines(std::string_view text) {
  const bool is_simple = std::all_of(
      text.begin(), text.end(), [](char byte) { return is_plain(byte) || is_layout(byte); });
  return is_simple ? std::string(text) : escaped(text, true);
}

}  // namespace memtrace
