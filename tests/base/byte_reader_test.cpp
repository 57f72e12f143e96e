#include "base/byte_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace memtrace {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(ByteReader, values_are_read_one_after_the_other) {
  const std::array<std::uint32_t, 3> words = {1, 2, 0xdeadbeef};
  ByteReader reader(std::as_bytes(std::span(words)));
  EXPECT_EQ(reader.read<std::uint32_t>(), 1U);
  reader.skip(4);
  EXPECT_EQ(reader.position(), 8U);
  EXPECT_EQ(reader.remaining(), 4U);
  EXPECT_EQ(reader.read<std::uint32_t>(), 0xdeadbeefU);
  EXPECT_FALSE(reader.failed());
}

TEST(ByteReader, a_short_read_yields_zero_and_fails_for_good) {
  const auto bytes = bytes_of("abcde");
  ByteReader reader(bytes);
  EXPECT_EQ(reader.read<std::uint64_t>(), 0U);
  EXPECT_TRUE(reader.failed());
  EXPECT_EQ(reader.read<std::uint8_t>(), 0U);
  EXPECT_EQ(reader.position(), 0U);
}

TEST(ByteReader, a_size_near_the_largest_does_not_wrap) {
  const auto bytes = bytes_of("abcd");
  ByteReader reader(bytes);
  reader.skip(2);
  EXPECT_TRUE(reader.take(SIZE_MAX).empty());
  EXPECT_TRUE(reader.failed());
}

TEST(ByteReader, reading_to_the_very_end_is_no_failure) {
  const auto bytes = bytes_of("ab");
  ByteReader reader(bytes);
  EXPECT_EQ(reader.take(2).size(), 2U);
  EXPECT_EQ(reader.take(0).size(), 0U);
  EXPECT_FALSE(reader.failed());
}

TEST(ByteReader, text_ends_at_its_nul_or_with_its_field) {
  const auto bytes = bytes_of({"ab\0zcdef", 8});
  ByteReader reader(bytes);
  EXPECT_EQ(reader.text(4), "ab");
  EXPECT_EQ(reader.text(4), "cdef");
  EXPECT_EQ(reader.text(0), "");
  EXPECT_FALSE(reader.failed());
}

TEST(ByteReader, text_beyond_the_end_is_empty) {
  ByteReader reader({});
  EXPECT_EQ(reader.text(4), "");
  EXPECT_TRUE(reader.failed());
}

}  // namespace
}  // namespace memtrace
