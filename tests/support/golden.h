// Compares text with a file of tests/golden byte for byte. MEMTRACE_UPDATE_GOLDEN=1 writes the
// files anew; the difference is then reviewed like any other.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace memtrace::test {

inline std::string golden_path(const std::string& name) {
  return std::string(TEST_SOURCE_DIR) + "/golden/" + name;
}

inline void expect_golden(const std::string& name, const std::string& actual) {
  const std::string path = golden_path(name);
  const char* update = std::getenv("MEMTRACE_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    std::ofstream file(path, std::ios::binary);
    file << actual;
    ASSERT_TRUE(file.good()) << path << " cannot be written";
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.good()) << path << " is missing: MEMTRACE_UPDATE_GOLDEN=1 writes it";
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(expected.str(), actual) << "differs from " << path;
}

}  // namespace memtrace::test
