#include "tracepoints/format/filter_expression.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

bool accepts(const char* text, std::vector<std::uint64_t> values) {
  const auto filter = FilterExpression::parse(text);
  EXPECT_TRUE(filter.ok()) << text;
  return filter.ok() && filter.value().accepts(values);
}

TEST(FilterExpression, limits_of_sizes) {
  EXPECT_TRUE(accepts("size >= 105 && size <= 107", {105}));
  EXPECT_TRUE(accepts("size >= 105 && size <= 107", {107}));
  EXPECT_FALSE(accepts("size >= 105 && size <= 107", {104}));
  EXPECT_FALSE(accepts("size >= 105 && size <= 107", {108}));
}

TEST(FilterExpression, and_binds_closer_than_or) {
  EXPECT_TRUE(accepts("a == 1 || a == 2 && b == 3", {1, 0}));
  EXPECT_FALSE(accepts("(a == 1 || a == 2) && b == 3", {1, 0}));
  EXPECT_TRUE(accepts("!(a == 1) && !a == 5", {2}));
  EXPECT_FALSE(accepts("!!a!=2", {2}));
}

TEST(FilterExpression, numbers_of_all_kinds) {
  EXPECT_TRUE(accepts("a == 0x10", {16}));
  EXPECT_TRUE(accepts("a == -1", {~std::uint64_t{0}}));
  EXPECT_TRUE(accepts("a & 6", {4}));
  EXPECT_FALSE(accepts("a & 6", {8}));
  EXPECT_TRUE(accepts("a<3&&b>4", {2, 5}));
}

TEST(FilterExpression, each_field_is_named_once) {
  const auto filter = FilterExpression::parse("size > 1 && count < 9 || size == 0");
  ASSERT_TRUE(filter.ok());
  EXPECT_EQ(filter.value().fields(), (std::vector<std::string>{"size", "count"}));
}

TEST(FilterExpression, what_cannot_be_tested_is_refused) {
  for (const char* text : {"",
                           "size",
                           "size >",
                           "size > big",
                           "comm == \"make\"",
                           "comm ~ \"m*\"",
                           "size > 1 &&",
                           "(size > 1",
                           "size > 1)",
                           "1 > 2",
                           "size = 3"}) {
    const auto filter = FilterExpression::parse(text);
    ASSERT_FALSE(filter.ok()) << text;
    EXPECT_EQ(filter.error().kind, ErrorKind::Usage);
  }
  EXPECT_FALSE(FilterExpression::parse(std::string(5000, '(') + "a == 1").ok());
}

}  // namespace
}  // namespace memtrace
