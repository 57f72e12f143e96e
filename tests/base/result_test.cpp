#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace memtrace {
namespace {

Result<> check(bool good) {
  if (!good) {
    return Error{"check", EPERM, "be good"};
  }
  return kDone;
}

Result<int> both(bool first, bool second) {
  TRY(check(first));
  TRY(check(second));
  return 7;
}

TEST(Result, a_value_or_an_error_but_not_both) {
  const Result<int> good = 7;
  const Result<int> bad = Error{"open(x)", ENOENT, "make it"};
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.value(), 7);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().hint, "make it");
  EXPECT_EQ(bad.error().kind, ErrorKind::Failed);
}

TEST(Result, a_value_that_can_only_be_moved_is_taken) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  EXPECT_EQ(*result.take(), 7);
}

TEST(Result, try_passes_the_first_error_on) {
  EXPECT_EQ(both(true, true).value(), 7);
  EXPECT_EQ(both(true, false).error().message, "check");
  EXPECT_EQ(both(false, true).error().errno_value, EPERM);
}

TEST(Result, an_error_is_described_with_the_systems_words) {
  EXPECT_EQ(describe({"open(x)", ENOENT, "hint"}), "open(x): No such file or directory");
  EXPECT_EQ(describe({"no such view", 0, "hint"}), "no such view");
}

}  // namespace
}  // namespace memtrace
