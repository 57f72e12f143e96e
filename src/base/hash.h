// One good 64-bit mix for all hash tables: flat tables need every input bit in the low bits.
#pragma once

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

// The same of many words: four sums side by side, as each step of one waits for the step before. In
// an array they would wait for memory.
inline std::uint64_t hash_many_words(std::span<const std::uint64_t> words, std::uint64_t seed = 0) {
  if (words.size() < 8) {
    return hash_words(words, seed);
  }
  std::uint64_t a = combine(seed, words.size());
  std::uint64_t b = seed + 1;
  std::uint64_t c = seed + 2;
  std::uint64_t d = seed + 3;
  std::size_t at = 0;
  for (; at + 4 <= words.size(); at += 4) {
    a = combine(a, words[at]);
    b = combine(b, words[at + 1]);
    c = combine(c, words[at + 2]);
    d = combine(d, words[at + 3]);
  }
  for (; at < words.size(); ++at) {
    a = combine(a, words[at]);
  }
  return combine(combine(combine(a, b), c), d);
}

}  // namespace memtrace
