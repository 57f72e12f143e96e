#include "base/gzip.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

// printf 'CONFIG_X=y\\n# CONFIG_Y is not set\\n' | gzip -n
constexpr unsigned char kCompressed[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x73, 0xf6, 0xf7, 0x73, 0xf3, 0x74,
    0x8f, 0x8f, 0xb0, 0xad, 0xe4, 0x52, 0x56, 0x70, 0x86, 0x70, 0x22, 0x15, 0x32, 0x8b, 0x15, 0xf2,
    0xf2, 0x4b, 0x14, 0x8a, 0x53, 0x4b, 0xb8, 0x00, 0x64, 0xa0, 0x74, 0xf8, 0x21, 0x00, 0x00, 0x00};

std::string compressed() {
  return {reinterpret_cast<const char*>(kCompressed), sizeof kCompressed};
}

TEST(GzipTest, what_gzip_wrote_is_read) {
  const auto text = gunzip(compressed());
  ASSERT_TRUE(text.ok()) << describe(text.error());
  EXPECT_EQ(text.value(), "CONFIG_X=y\n# CONFIG_Y is not set\n");
}

TEST(GzipTest, what_is_broken_is_an_error) {
  for (std::size_t bytes = 0; bytes < sizeof kCompressed; ++bytes) {
    EXPECT_FALSE(gunzip(compressed().substr(0, bytes)).ok()) << bytes;
  }
  std::string wrong = compressed();
  wrong[20] = static_cast<char>(wrong[20] ^ 0x55);
  EXPECT_FALSE(gunzip(wrong).ok());
  EXPECT_FALSE(gunzip("CONFIG_X=y\n").ok());
}

}  // namespace
}  // namespace memtrace
