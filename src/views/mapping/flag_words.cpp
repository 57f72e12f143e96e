#include "views/mapping/flag_words.h"

#include <fmt/core.h>

namespace memtrace {
namespace {

void add(std::string& text, std::string_view word) {
  text += text.empty() ? "" : "|";
  text += word;
}

std::string huge_size(std::uint64_t shift) {
  constexpr std::uint64_t kGiga = 30;
  constexpr std::uint64_t kMega = 20;
  const bool giga = shift >= kGiga;
  const std::uint64_t unit_shift = giga ? kGiga : kMega;
  if (shift < kMega) {
    return fmt::format("huge_{}K", 1ULL << (shift >= 10 ? shift - 10 : 0));
  }
  return fmt::format("huge_{}{}", 1ULL << (shift - unit_shift), giga ? "G" : "M");
}

}  // namespace

std::string flag_words(std::uint64_t flags, std::span<const FlagWord> words, std::string first) {
  std::string text = std::move(first);
  for (const FlagWord& word : words) {
    if ((flags & word.mask) != 0) {
      add(text, word.word);
      flags &= ~word.mask;
    }
  }
  if (const std::uint64_t shift = (flags & kHugeSizeMask) >> kHugeSizeShift; shift != 0) {
    add(text, huge_size(shift));
    flags &= ~kHugeSizeMask;
  }
  if (flags != 0) {
    add(text, fmt::format("0x{:x}", flags));
  }
  return text;
}

}  // namespace memtrace
