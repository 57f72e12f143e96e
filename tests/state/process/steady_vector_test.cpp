#include "state/process/steady_vector.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

namespace memtrace {
namespace {

TEST(SteadyVectorTest, entries_stay_where_they_are) {
  SteadyVector<std::string> names;
  names.push_back("first");
  const std::string* first = &names[0];
  for (int i = 1; i < 10'000; ++i) {
    names.push_back(std::to_string(i));
  }
  EXPECT_EQ(first, &names[0]);
  EXPECT_EQ(*first, "first");
  EXPECT_EQ(names.size(), 10'000U);
  for (const std::size_t i : {1U, 1023U, 1024U, 1025U, 2047U, 2048U, 4095U, 4096U, 9999U}) {
    EXPECT_EQ(names[i], std::to_string(i));
  }
}

TEST(SteadyVectorTest, all_entries_are_destroyed) {
  const auto shared = std::make_shared<int>(7);
  {
    SteadyVector<std::shared_ptr<int>> holders;
    for (int i = 0; i < 3000; ++i) {
      holders.push_back(shared);
    }
    EXPECT_EQ(shared.use_count(), 3001);
  }
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(SteadyVectorTest, a_thread_reads_what_another_one_adds) {
  SteadyVector<std::size_t> squares;
  constexpr std::size_t kEntries = 100'000;
  std::thread writer([&squares] {
    for (std::size_t i = 0; i < kEntries; ++i) {
      squares.push_back(i * i);
    }
  });
  std::size_t wrong = 0;
  for (std::size_t seen = 0; seen < kEntries;) {
    seen = squares.size();
    wrong += seen > 0 && squares[seen - 1] != (seen - 1) * (seen - 1) ? 1 : 0;
  }
  writer.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace memtrace
