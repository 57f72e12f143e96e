#include "os/own/heap_reserve.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/sanitized.h"

namespace memtrace {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

std::uint64_t minor_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_minflt);
}

// Blocks of all sizes: small ones, and one that malloc would map by itself.
void use_memory() {
  std::vector<std::string> small;
  for (std::size_t i = 0; i < 20'000; ++i) {
    small.emplace_back(100 + i % 500, 'x');
  }
  const std::vector<std::byte> large(8 * kMebibyte, std::byte{1});
  EXPECT_EQ(std::ranges::count(large, std::byte{1}), 8 * kMebibyte);
}

// Faults while a child uses its memory twice; it changes malloc for itself alone.
std::uint64_t faults_with_reserve(std::size_t reserve_bytes) {
  const auto child = ::fork();
  if (child == 0) {
    if (reserve_bytes > 0) {
      take_heap(reserve_bytes);
    }
    const std::uint64_t before = minor_faults();
    use_memory();
    use_memory();
    const std::uint64_t faults = minor_faults() - before;
    ::_exit(static_cast<int>(std::min<std::uint64_t>(faults / 16, 255)));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return static_cast<std::uint64_t>(WEXITSTATUS(status)) * 16;
}

TEST(HeapReserve, memory_in_use_below_it_asks_the_kernel_for_nothing) {
  if (test::kIsSanitized) {
    GTEST_SKIP() << "the sanitizer has a malloc of its own";
  }
  EXPECT_GE(faults_with_reserve(0), 1000U);
  EXPECT_LE(faults_with_reserve(32 * kMebibyte), 64U);  // the child's stack, and pages after fork
}

TEST(HeapReserve, what_was_taken_is_said) {
  EXPECT_EQ(take_heap(3 * kMebibyte / 2), 3 * kMebibyte / 2);
}

}  // namespace
}  // namespace memtrace
