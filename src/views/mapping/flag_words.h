// Flags of system calls in words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace memtrace {

struct FlagWord {
  std::uint64_t mask = 0;
  std::string_view word;
};

// Flags of this kind have the size of huge pages, as a power of two, in six bits from here on, and
// only with the flag for huge pages (include/uapi/asm-generic/hugetlb_encode.h).
inline constexpr unsigned kHugeSizeShift = 26;
inline constexpr std::uint64_t kHugeSizeMask = std::uint64_t{0x3f} << kHugeSizeShift;

// `first` and the words of all bits that are set, with bars between them: "private|anonymous".
// What is left over comes last, as a number; "huge_2M" for a size of huge pages.
std::string flag_words(std::uint64_t flags,
                       std::span<const FlagWord> words,
                       std::string first = {});

}  // namespace memtrace
