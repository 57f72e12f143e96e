// Answers that are remembered until another takes their slot.
#include "state/process/recent_ids.h"

#include <gtest/gtest.h>

#include "base/ids.h"

namespace memtrace {
namespace {

TEST(RecentIdsTest, answer_is_known_until_another_one_takes_its_slot) {
  RecentIds<StackId> ids;
  const std::uint64_t hash = 0x1234'0000'0000'0001U;
  EXPECT_FALSE(ids.find(hash).valid());
  ids.put(hash, StackId{7});
  EXPECT_EQ(ids.find(hash), StackId{7});
  EXPECT_FALSE(ids.find(hash + 1).valid()) << "the same slot, another question";
  ids.put(hash + 1, StackId{8});
  EXPECT_FALSE(ids.find(hash).valid());
  EXPECT_EQ(ids.find(hash + 1), StackId{8});
}

TEST(RecentIdsTest, hash_of_zero_is_not_known_before_it_was_put) {
  EXPECT_FALSE(RecentIds<LocationId>().find(0).valid());
}

}  // namespace
}  // namespace memtrace
