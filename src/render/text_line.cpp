#include "render/text_line.h"

#include <algorithm>

#include "base/text.h"

namespace memtrace {
namespace {

constexpr std::string_view kDots = "...";

// UTF-8: every byte of a character but its first has the form 10xxxxxx.
bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// The bytes of the first `width` characters.
std::string_view first_columns(std::string_view text, std::size_t width) {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!is_continuation(text[end]) && width-- == 0) {
      break;
    }
  }
  return text.substr(0, end);
}

std::string_view last_columns(std::string_view text, std::size_t width) {
  const std::size_t left_out = width_of(text) - std::min(width, width_of(text));
  return text.substr(first_columns(text, left_out).size());
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !is_continuation(byte); }));
}

std::string cut_end(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) {
    return std::string(text);
  }
  if (width <= kDots.size()) {
    return std::string(first_columns(text, width));
  }
  return std::string(first_columns(text, width - kDots.size())).append(kDots);
}

std::string cut_middle(std::string_view text, std::size_t width) {
  if (width_of(text) <= width || width <= kDots.size() + 1) {
    return cut_end(text, width);
  }
  const std::size_t kept = width - kDots.size();
  std::string short_text(first_columns(text, kept - kept / 2));
  return short_text.append(kDots).append(last_columns(text, kept / 2));
}

std::string pad_right(std::string text, std::size_t width) {
  return text.append(width - std::min(width, width_of(text)), ' ');
}

std::string pad_left(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ') + text;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::vector<std::string> lines;
  std::string line;
  bool has_words = false;
  for (const std::string_view word : split(text, ' ')) {
    if (has_words && width_of(line) + 1 + width_of(word) > width) {
      lines.push_back(line);
      line = std::string(indent, ' ');
      has_words = false;
    }
    line += has_words ? " " : "";
    line += word;
    has_words = true;
  }
  lines.push_back(line);
  return lines;
}

}  // namespace memtrace
