#include "base/hex.h"

#include <gtest/gtest.h>

#include <array>

namespace memtrace {
namespace {

TEST(Hex, each_byte_has_two_digits) {
  const std::array<std::byte, 4> bytes = {
      std::byte{0}, std::byte{9}, std::byte{0xa0}, std::byte{0xff}};
  EXPECT_EQ(to_hex(bytes), "0009a0ff");
  EXPECT_EQ(to_hex({}), "");
}

}  // namespace
}  // namespace memtrace
