#include "session/named_stacks.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace memtrace {
namespace {

class NamedStacksTest : public testing::Test {
 protected:
  const std::string& function_of(std::uint32_t number) {
    return stacks_
        .of(StackId{number},
            [&] {
              ++named_;
              return Frames{{.function = std::to_string(number)}};
            })
        .front()
        .function;
  }

  NamedStacks stacks_;
  int named_ = 0;
};

TEST_F(NamedStacksTest, a_stack_is_named_once_for_those_who_ask_in_a_row) {
  EXPECT_EQ(function_of(1), "1");
  EXPECT_EQ(function_of(2), "2");
  EXPECT_EQ(function_of(1), "1");
  EXPECT_EQ(named_, 2);
}

// A live view of ten minutes kept names of all stacks that it ever showed.
TEST_F(NamedStacksTest, a_long_view_keeps_few_of_many) {
  for (std::uint32_t i = 1; i <= 10'000; ++i) {
    ASSERT_EQ(function_of(i), std::to_string(i));
    ASSERT_LE(stacks_.size(), NamedStacks::kMaxStacks);
  }
  EXPECT_EQ(function_of(1), "1");
}

}  // namespace
}  // namespace memtrace
