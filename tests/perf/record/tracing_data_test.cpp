#include "perf/record/tracing_data.h"

#include <gtest/gtest.h>

#include <climits>

namespace memtrace {
namespace {

TracingData data_of(const std::string& system) {
  TracingData data;
  data.formats.push_back(describe_format(system, "name: kmalloc\nID: 547\n"));
  return data;
}

TEST(TracingData, what_is_written_is_read) {
  const auto read = parse_tracing_data(write_tracing_data(data_of("kmem")));
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read.value().is_whole);
  ASSERT_EQ(read.value().formats.size(), 1U);
  EXPECT_EQ(read.value().formats[0].system, "kmem");
  EXPECT_EQ(read.value().formats[0].name, "kmalloc");
  EXPECT_EQ(read.value().formats[0].id, 547U);
}

// A format takes 8 bytes of the file, and a copy of its system's name.
TEST(TracingData, system_has_the_name_of_a_folder) {
  const auto longest = parse_tracing_data(write_tracing_data(data_of(std::string(NAME_MAX, 'x'))));
  ASSERT_TRUE(longest.ok());
  EXPECT_TRUE(longest.value().is_whole);
  EXPECT_EQ(longest.value().formats.size(), 1U);
  const auto longer =
      parse_tracing_data(write_tracing_data(data_of(std::string(NAME_MAX + 1, 'x'))));
  ASSERT_TRUE(longer.ok());
  EXPECT_FALSE(longer.value().is_whole);
  EXPECT_TRUE(longer.value().formats.empty());
}

}  // namespace
}  // namespace memtrace
