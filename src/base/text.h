// Small text tools: split, join, numbers, patterns, nearest names. Text is put together by {fmt}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace {

std::vector<std::string_view> split(std::string_view text, char separator);
// At commas that are not within parentheses.
std::vector<std::string_view> split_list(std::string_view text);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string_view trim(std::string_view text);

// The whole text as a number, decimal or with 0x; nothing when any character is left over.
std::optional<std::uint64_t> parse_number(std::string_view text, int base = 10);

// Two lower-case hexadecimal digits for each byte.
std::string to_hex(std::span<const std::byte> bytes);

// Shell-style pattern with * and ?.
bool glob_match(std::string_view pattern, std::string_view text);

// Up to three candidates within a small edit distance of `word` or beginning with it, nearest
// first: for "unknown view 'kmaloc'; did you mean kmalloc?".
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace memtrace
