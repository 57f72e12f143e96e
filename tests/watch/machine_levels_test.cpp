#include "watch/machine_levels.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_dir.h"

namespace memtrace {
namespace {

class MachineLevelsTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(dir_.file(name)) << text;
  }

  test::TempDir dir_;
};

TEST_F(MachineLevelsTest, are_those_of_proc) {
  write("meminfo", "MemTotal:  1000 kB\nMemFree:  100 kB\nMemAvailable:  400 kB\n");
  write("vmstat", "pgpgin 1\npswpin 77\npswpout 3\n");
  const MachineLevels levels = read_levels(dir_.path());
  EXPECT_EQ(levels.total_bytes, 1000U * 1024);
  EXPECT_EQ(levels.available_bytes, 400U * 1024);
  EXPECT_EQ(levels.swapped_in_pages, 77U);
}

TEST_F(MachineLevelsTest, without_available_memory_free_and_cached_count) {
  write("meminfo",
        "MemTotal:  1000 kB\nMemFree:  100 kB\nBuffers:  10 kB\nCached:  50 kB\nShmem:  20 kB\n");
  EXPECT_EQ(read_levels(dir_.path()).available_bytes, 140U * 1024);
}

TEST_F(MachineLevelsTest, what_is_not_there_is_not_known) {
  const MachineLevels levels = read_levels(dir_.path());
  EXPECT_FALSE(levels.available_bytes);
  EXPECT_FALSE(levels.swapped_in_pages);
}

TEST_F(MachineLevelsTest, pressure_is_said_where_a_task_has_waited) {
  EXPECT_EQ(pressure_words(dir_.path()), "");
  ASSERT_TRUE(std::filesystem::create_directory(dir_.file("pressure")));
  write("pressure/memory",
        "some avg10=12.34 avg60=3.10 avg300=0.64 total=1234567\n"
        "full avg10=9.00 avg60=1.00 avg300=0.10 total=234567\n");
  EXPECT_EQ(pressure_words(dir_.path()),
            "some task waited for memory for 12.34 % of the last 10 s");
  write("pressure/memory", "some avg10=0.00 avg60=3.10 avg300=0.64 total=1234567\n");
  EXPECT_EQ(pressure_words(dir_.path()), "");
}

}  // namespace
}  // namespace memtrace
