#include "recording/rotation.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temp_dir.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

RotationPolicy policy_at_start(RotationOptions options, std::uint64_t state_bytes = 0) {
  RotationPolicy policy(options);
  policy.begin_file(100 * kSecondNs, state_bytes);
  return policy;
}

bool is_due(const RotationPolicy& policy, std::uint64_t seconds, std::uint64_t bytes) {
  return policy.is_due({.now_ns = seconds * kSecondNs, .file_bytes = bytes, .record_bytes = bytes});
}

TEST(RotationTest, files_are_numbered_from_one_in_four_digits_or_more) {
  EXPECT_EQ(rotated_name("memtrace.data", 1), "memtrace.data.0001");
  EXPECT_EQ(rotated_name("dir.d/x", 9999), "dir.d/x.9999");
  EXPECT_EQ(rotated_name("x", 10000), "x.10000");
}

TEST(RotationTest, files_are_found_by_their_common_name) {
  const test::TempDir dir;
  for (const char* name :
       {"x.10000", "x.0002", "x.0001", "x.1", "x.0002.old", "x.00003", "y.0001"}) {
    std::ofstream(dir.file(name)) << "";
  }
  const std::string x = dir.file("x");
  EXPECT_EQ(rotated_files(x), (std::vector<std::string>{x + ".0001", x + ".0002", x + ".10000"}));
  EXPECT_TRUE(rotated_files(dir.file("z")).empty());
}

TEST(RotationTest, without_limits_no_file_is_ever_due) {
  EXPECT_FALSE(is_due(policy_at_start({.is_wanted = true}), 1'000'000, ~std::uint64_t{0}));
}

TEST(RotationTest, file_of_the_size_is_due) {
  const auto policy = policy_at_start({.max_bytes = 1000});
  EXPECT_FALSE(is_due(policy, 1'000'000, 999));
  EXPECT_TRUE(is_due(policy, 100, 1000));
}

TEST(RotationTest, time_counts_from_the_beginning_of_each_file) {
  auto policy = policy_at_start({.max_ns = 10 * kSecondNs});
  EXPECT_FALSE(is_due(policy, 109, 5));
  EXPECT_TRUE(is_due(policy, 110, 5));
  policy.begin_file(112 * kSecondNs, 0);
  EXPECT_FALSE(is_due(policy, 121, 5));
  EXPECT_TRUE(is_due(policy, 122, 5));
}

TEST(RotationTest, what_comes_first_of_size_and_time_counts) {
  const auto policy = policy_at_start({.max_bytes = 1000, .max_ns = 10 * kSecondNs});
  EXPECT_TRUE(is_due(policy, 101, 2000));
  EXPECT_TRUE(is_due(policy, 200, 0));
  EXPECT_FALSE(is_due(policy, 101, 10));
}

// What every file begins with may be larger than the limit.
TEST(RotationTest, file_has_as_much_of_its_own_as_it_began_with) {
  const auto policy = policy_at_start({.max_bytes = 1000}, 5000);
  EXPECT_FALSE(is_due(policy, 101, 5000));
  EXPECT_FALSE(is_due(policy, 101, 9999));
  EXPECT_TRUE(is_due(policy, 101, 10'000));
}

TEST(RotationTest, compressed_state_counts_as_it_came) {
  const auto policy = policy_at_start({.max_bytes = 1000}, 50'000);
  EXPECT_FALSE(policy.is_due({.now_ns = 0, .file_bytes = 3000, .record_bytes = 60'000}));
  EXPECT_TRUE(policy.is_due({.now_ns = 0, .file_bytes = 6000, .record_bytes = 100'000}));
}

}  // namespace
}  // namespace memtrace
