// One good 64-bit mix for all hash tables: flat tables need every input bit in the low bits.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace memtrace {

// Multiplies by an odd constant and folds the high half back: two instructions, no weak low bits.
inline std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 32;
  value *= 0x9E3779B97F4A7C15U;
  return value ^ (value >> 29);
}

inline std::uint64_t combine(std::uint64_t seed, std::uint64_t value) {
  return mix(std::rotl(seed, 23) ^ value);
}

// The number of words counts as well: mix(0) is 0, so leading zeros would not show.
inline std::uint64_t hash_words(std::span<const std::uint64_t> words, std::uint64_t seed = 0) {
  seed = combine(seed, words.size());
  for (const std::uint64_t word : words) {
    seed = combine(seed, word);
  }
  return seed;
}

// The same of many words: four sums at once, as each step of one waits for the step before.
inline std::uint64_t hash_many_words(std::span<const std::uint64_t> words, std::uint64_t seed = 0) {
  std::array<std::uint64_t, 4> sums = {seed, seed + 1, seed + 2, seed + 3};
  std::size_t at = 0;
  for (; at + sums.size() <= words.size(); at += sums.size()) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] = combine(sums[i], words[at + i]);
    }
  }
  for (std::size_t i = 0; at < words.size(); ++i, ++at) {
    sums[i] = combine(sums[i], words[at]);
  }
  return hash_words(sums, words.size());
}

}  // namespace memtrace
