#include "unwind/space_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace memtrace {
namespace {

TEST(SpaceTable, a_process_has_the_space_it_was_last_seen_in) {
  const auto table = std::make_unique<SpaceTable>();
  EXPECT_EQ(table->find(7), std::nullopt);
  EXPECT_EQ(table->find(0), std::nullopt);
  table->enter(7, 100);
  table->enter(8, 200);
  EXPECT_EQ(table->find(7), 100U);
  table->enter(7, 101);
  EXPECT_EQ(table->find(7), 101U);
  EXPECT_EQ(table->find(8), 200U);
}

TEST(SpaceTable, more_processes_than_slots_are_found_or_not_but_never_mistaken) {
  const auto table = std::make_unique<SpaceTable>();
  for (std::uint32_t pid = 1; pid < 4 * SpaceTable::kSlots; ++pid) {
    table->enter(pid, pid * std::uint64_t{10});
    ASSERT_EQ(table->find(pid), pid * std::uint64_t{10});
  }
  std::size_t found = 0;
  for (std::uint32_t pid = 1; pid < 4 * SpaceTable::kSlots; ++pid) {
    const auto space = table->find(pid);
    ASSERT_TRUE(!space || *space == pid * std::uint64_t{10});
    found += space ? 1 : 0;
  }
  EXPECT_LE(found, SpaceTable::kSlots);
}

// Two processes of one slot take turns, and each has spaces of its own.
TEST(SpaceTable, a_reader_never_sees_the_space_of_another_process) {
  const auto table = std::make_unique<SpaceTable>();
  std::uint32_t other = 2;
  table->enter(1, 1000);
  for (table->enter(other, 2000); table->find(1); ++other) {
    table->enter(other, 2000);
  }
  --other;
  std::atomic<bool> is_done = false;
  std::thread reader([&] {
    while (!is_done) {
      const auto space = table->find(1);
      ASSERT_TRUE(!space || *space < 2000);
    }
  });
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    table->enter(1, 1000 + i % 1000);
    table->enter(other, 2000 + i);
  }
  is_done = true;
  reader.join();
}

}  // namespace
}  // namespace memtrace
