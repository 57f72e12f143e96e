#include "base/ids.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace memtrace {
namespace {

template <typename A, typename B>
concept comparable = requires(A a, B b) {
  a == b;
};

TEST(Ids, zero_means_none) {
  EXPECT_FALSE(StackId{}.valid());
  EXPECT_TRUE(StackId{1}.valid());
}

TEST(Ids, unlike_ids_do_not_compare) {
  EXPECT_TRUE((comparable<StackId, StackId>));
  EXPECT_FALSE((comparable<StackId, LocationId>));
  EXPECT_FALSE((std::is_convertible_v<std::uint32_t, StackId>));
}

TEST(Ids, ids_are_ordered_and_hashed_by_value) {
  EXPECT_LT(StackId{1}, StackId{2});
  const std::unordered_set<StackId> ids = {StackId{1}, StackId{2}, StackId{1}};
  EXPECT_EQ(ids.size(), 2U);
}

}  // namespace
}  // namespace memtrace
