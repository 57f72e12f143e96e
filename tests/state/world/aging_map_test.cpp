#include "state/world/aging_map.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(AgingMap, what_was_put_last_is_found) {
  AgingMap<int, int> map(2);
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.find(1), nullptr);
  map.put(1, 10);
  map.put(1, 11);
  ASSERT_NE(map.find(1), nullptr);
  EXPECT_EQ(*map.find(1), 11);
}

TEST(AgingMap, the_oldest_are_forgotten_half_at_a_time) {
  AgingMap<int, int> map(2);
  for (int key = 1; key <= 5; ++key) {
    map.put(key, key);
  }
  EXPECT_EQ(map.find(1), nullptr);
  EXPECT_EQ(map.find(2), nullptr);
  for (int key = 3; key <= 5; ++key) {
    ASSERT_NE(map.find(key), nullptr);
    EXPECT_EQ(*map.find(key), key);
  }
}

TEST(AgingMap, what_was_erased_does_not_come_back) {
  AgingMap<int, int> map(2);
  map.put(1, 10);
  map.put(2, 20);
  map.put(3, 30);  // 1 and 2 are old now
  map.put(1, 11);
  map.erase(1);
  EXPECT_EQ(map.find(1), nullptr);
  EXPECT_FALSE(map.empty());
}

}  // namespace
}  // namespace memtrace
