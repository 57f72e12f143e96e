#include "symbolize/names/perf_map.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace memtrace {
namespace {

TEST(PerfMap, finds_the_function_that_covers_an_address) {
  const auto map = PerfMap::parse("7f0000001000 40 LazyCompile:*add app.js:3\n0x2000 10 hex\n");
  const auto match = map.find(0x7f0000001010);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->function, "LazyCompile:*add app.js:3");
  EXPECT_EQ(match->offset, 0x10U);
  EXPECT_FALSE(map.find(0x7f0000001040));
  EXPECT_FALSE(map.find(0x7f0000000fff));
  EXPECT_TRUE(map.find(0x2000));
}

TEST(PerfMap, later_entry_replaces_what_it_covers) {
  const auto map = PerfMap::parse("1000 100 old\n1040 20 new\n");
  EXPECT_EQ(map.find(0x1000)->function, "old");
  EXPECT_EQ(map.find(0x1050)->function, "new");
  const auto tail = map.find(0x1080);
  EXPECT_EQ(tail->function, "old");
  EXPECT_EQ(tail->offset, 0x80U);
}

TEST(PerfMap, malformed_lines_are_skipped) {
  const auto map = PerfMap::parse(
      "\n \nxyz 10 a\n1000 zz b\n1000 10\n1000 10 \nfffffffffffffff0 20 wraps\n"
      "2000 10 good");
  EXPECT_FALSE(map.find(0x1000));
  EXPECT_FALSE(map.find(0xfffffffffffffff8));
  EXPECT_EQ(map.find(0x2000)->function, "good");
}

TEST(PerfMapFile, sees_entries_that_are_appended_later) {
  const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  std::ofstream(path) << "1000 10 first\n";
  PerfMapFile file(static_cast<std::uint32_t>(::getpid()));
  EXPECT_TRUE(file.find(0x1000));
  EXPECT_FALSE(file.find(0x2000));
  std::ofstream(path, std::ios::app) << "2000 10 second\n";
  const auto match = file.find(0x2000);
  std::filesystem::remove(path);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->function, "second");
}

}  // namespace
}  // namespace memtrace
