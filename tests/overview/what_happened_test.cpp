#include "overview/what_happened.h"

#include <gtest/gtest.h>

#include "support/fake_namer.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

std::vector<std::string> sentences(const WhatHappened& facts) {
  test::FakeNamer namer;
  std::vector<std::string> all;
  for (const auto& row : what_happened(facts, namer).rows) {
    all.push_back(std::get<std::string>(row[1]) + " > " + std::get<std::string>(row[2]));
  }
  return all;
}

WatchFacts killed() {
  return {.triggers = {{"oom", 61 * kSecondNs, "the OOM killer killed demo (pid 12)"},
                       {"available<5%", 62 * kSecondNs, "1.0 GiB of 24.0 GiB were available"}},
          .grown = {{12, "demo", 1 << 20, 61 << 20}},
          .sizes_ns = 60 * kSecondNs};
}

TEST(WhatHappened, says_nothing_of_other_recordings) {
  EXPECT_TRUE(sentences({.watch = {}}).empty());
}

TEST(WhatHappened, trigger_comes_first_and_then_who_grew) {
  const WatchFacts watch = killed();
  EXPECT_EQ(
      sentences({.watch = watch, .start_ns = kSecondNs, .arguments = " -i x"}),
      (std::vector<std::string>{
          "oom fired 60.00 s after the file begins: the OOM killer killed demo (pid 12). > "
          "memtrace report oom -i x",
          "available<5% followed 61.00 s after the file begins: 1.0 GiB of 24.0 GiB were "
          "available. > memtrace report growth --by comm -i x",
          "demo (pid 12) grew by 60.0 MiB to 61.0 MiB in the 60.00 s before. > memtrace report "
          "growth --comm demo -i x"}));
}

TEST(WhatHappened, those_who_took_memory_come_last_and_large_ones_alone) {
  const WatchFacts watch{.triggers = {{"oom", 61 * kSecondNs, "a kill"}}};
  Report taken{.view = "memory_taken"};
  taken.tables.push_back(
      {.columns = {{"comm", Unit::Text},
                   {"pid", Unit::Number},
                   {"stack", Unit::Stack},
                   {"bytes", Unit::Bytes}},
       .key_count = 3,
       .rows = {{std::string("small"), std::uint64_t{1}, StackId{}, std::uint64_t{1} << 19},
                {std::string("demo"), std::uint64_t{2}, StackId{}, std::uint64_t{5} << 20}}});
  const auto all = sentences({.watch = watch, .taken = &taken});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[1].starts_with("demo (pid 2) touched 5.0 MiB of memory first in the 10 s before"))
      << all[1];
}

}  // namespace
}  // namespace memtrace
