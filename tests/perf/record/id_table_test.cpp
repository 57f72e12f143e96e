#include "perf/record/id_table.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(IdTable, ids_are_found_by_the_last_number_that_they_were_given) {
  IdTable table;
  EXPECT_TRUE(table.empty());
  for (std::uint64_t id = 1; id <= 1000; ++id) {
    table.add(id << 32U, static_cast<std::uint32_t>(id));
  }
  table.add(std::uint64_t{7} << 32U, 7000);
  EXPECT_EQ(table.find(std::uint64_t{7} << 32U), 7000U);
  EXPECT_EQ(table.find(std::uint64_t{1000} << 32U), 1000U);
  EXPECT_FALSE(table.find(7));
}

TEST(IdTable, id_0_is_no_events) {
  IdTable table;
  table.add(0, 5);
  EXPECT_TRUE(table.empty());
  EXPECT_FALSE(table.find(0));
}

}  // namespace
}  // namespace memtrace
