// Identifiers and numbers in the text of a format file. Internal to tracepoints/.
#pragma once

#include <cctype>
#include <cstddef>
#include <string_view>

namespace memtrace {

inline bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

inline bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Letters, digits and _ that `text` begins with.
inline std::string_view leading_word(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_word(text[length])) {
    ++length;
  }
  return text.substr(0, length);
}

}  // namespace memtrace
