#include "state/process/seen_places.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr std::uint64_t kOneSlot = std::uint64_t{5} << 50U;

TEST(SeenPlaces, has_what_was_added_until_another_takes_its_slot) {
  SeenPlaces seen;
  EXPECT_FALSE(seen.has(kOneSlot + 1));
  seen.add(kOneSlot + 1);
  EXPECT_TRUE(seen.has(kOneSlot + 1));
  EXPECT_FALSE(seen.has(kOneSlot + 3));
  seen.add(kOneSlot + 3);
  EXPECT_TRUE(seen.has(kOneSlot + 3));
  EXPECT_FALSE(seen.has(kOneSlot + 1));
}

}  // namespace
}  // namespace memtrace
