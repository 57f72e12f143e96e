#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace memtrace {
namespace {

TEST(Hash, inputs_that_differ_in_high_bits_differ_in_low_bits) {
  std::set<std::uint64_t> low_bytes;
  for (std::uint64_t page = 0; page < 256; ++page) {
    low_bytes.insert(mix(0xffff888000000000U + (page << 40)) & 0xffff);
  }
  EXPECT_GT(low_bytes.size(), 250U);
}

TEST(Hash, page_aligned_addresses_spread_over_a_small_table) {
  std::set<std::uint64_t> slots;
  for (std::uint64_t page = 0; page < 1024; ++page) {
    slots.insert(mix(0x7f0000000000U + page * 4096) & 1023);
  }
  EXPECT_GT(slots.size(), 500U);  // 1024 throws into 1024 slots hit some 650
}

TEST(Hash, order_and_seed_matter) {
  const std::vector<std::uint64_t> forwards = {1, 2, 3};
  const std::vector<std::uint64_t> backwards = {3, 2, 1};
  EXPECT_NE(hash_words(forwards), hash_words(backwards));
  EXPECT_NE(hash_words(forwards), hash_words(forwards, 1));
  EXPECT_EQ(hash_words(forwards), hash_words(forwards));
}

TEST(Hash, a_word_more_is_another_hash) {
  EXPECT_NE(hash_words(std::vector<std::uint64_t>{7}),
            hash_words(std::vector<std::uint64_t>{7, 0}));
  EXPECT_NE(hash_words(std::vector<std::uint64_t>{}), hash_words(std::vector<std::uint64_t>{0}));
}

TEST(Hash, of_many_words_every_word_its_place_and_their_number_matter) {
  std::set<std::uint64_t> hashes;
  std::size_t count = 0;
  for (std::size_t size = 0; size < 20; ++size) {
    std::vector<std::uint64_t> words(size);
    hashes.insert(hash_many_words(words));
    hashes.insert(hash_many_words(words, 7));
    count += 2;
    for (std::size_t i = 0; i < size; ++i) {
      words[i] = 1;
      hashes.insert(hash_many_words(words));
      words[i] = 0;
      ++count;
    }
  }
  EXPECT_EQ(hashes.size(), count);
}

}  // namespace
}  // namespace memtrace
