#include "report/name_pattern.h"

#include <gtest/gtest.h>

#include <chrono>

namespace memtrace {
namespace {

bool found(const std::string& expression, const std::string& name) {
  const auto pattern = NamePattern::parse(expression);
  EXPECT_TRUE(pattern.ok()) << expression;
  return pattern.ok() && pattern.value().is_found_in(name);
}

TEST(NamePattern, is_searched_for_anywhere) {
  EXPECT_TRUE(found("alloc", "kmalloc_node"));
  EXPECT_FALSE(found("^alloc", "kmalloc_node"));
  EXPECT_TRUE(found("^k(m|z)alloc_\\w+$", "kmalloc_node"));
  EXPECT_TRUE(found("a.b",
                    "a\xff"
                    "b"));
}

TEST(NamePattern, that_is_none_is_an_error) {
  EXPECT_FALSE(NamePattern::parse("[").ok());
  EXPECT_FALSE(NamePattern::parse("a(?=b)").ok());
  EXPECT_FALSE(NamePattern::parse(std::string(20000, '(')).ok());
}

TEST(NamePattern, may_be_nested_deeply) {
  EXPECT_TRUE(found(std::string(20000, '(') + "a" + std::string(20000, ')'), "kmalloc"));
}

// By backtracking this takes longer than anybody lives.
TEST(NamePattern, takes_time_in_proportion_to_the_name) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(found("(.*)*(.*)*(.*)*(.*)*Q", std::string(5000, 'a')));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace memtrace
