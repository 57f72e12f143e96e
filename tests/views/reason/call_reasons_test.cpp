#include "views/reason/call_reasons.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace memtrace::call_reasons_test {
namespace {

constexpr std::uint64_t kMega = 1U << 20U;

SystemCallDone map(std::uint64_t bytes, std::uint64_t flags = 0x22, int error = ENOMEM) {
  return {.call = SystemCall::Mmap, .arguments = {0, bytes, 3, flags}, .result = -error};
}

// The one reason for which the call was refused.
Reason only(const SystemCallDone& done, const Facts& facts) {
  const auto reasons = reasons_of(done, facts);
  EXPECT_EQ(reasons.size(), 1U);
  return reasons.empty() ? Reason{} : reasons.front();
}

TEST(CallReasons, an_address_space_limit_is_added_up) {
  const Reason reason =
      only(map(16 * kMega), {.numbers = {{"vm_size", 60 * kMega}, {"rlimit_as", 64 * kMega}}});
  EXPECT_EQ(reason.code, "rlimit_as");
  EXPECT_EQ(reason.sentence,
            "RLIMIT_AS allows 64.0 MiB of address space: 60.0 MiB in use + 16.0 MiB asked for are "
            "12.0 MiB too much.");
  EXPECT_EQ(reason.change,
            "raise RLIMIT_AS to 76.0 MiB or more: ulimit -v 77824, LimitAS= of a unit, prlimit "
            "--as");
  EXPECT_EQ(reason.excess, 12 * kMega);
}

TEST(CallReasons, a_request_above_the_limit_needs_no_process) {
  const Reason reason = only(map(3 * kMega), {.numbers = {{"rlimit_as", kMega}}});
  EXPECT_EQ(reason.sentence,
            "RLIMIT_AS allows 1.0 MiB of address space: 3.0 MiB asked for alone is 2.0 MiB too "
            "much.");
  EXPECT_EQ(reason.used, std::nullopt);
}

TEST(CallReasons, what_just_fits_is_no_reason) {
  EXPECT_TRUE(
      reasons_of(map(4 * kMega), {.numbers = {{"vm_size", 60 * kMega}, {"rlimit_as", 64 * kMega}}})
          .empty());
}

TEST(CallReasons, mappings_are_counted_one_by_one) {
  const Reason reason =
      only(map(4096), {.numbers = {{"mappings", 65531}, {"max_map_count", 65530}}});
  EXPECT_EQ(reason.code, "max_map_count");
  EXPECT_EQ(reason.sentence,
            "vm.max_map_count allows a process 65,530 mappings: 65,531 in use + 1 asked for are 2 "
            "too much.");
  EXPECT_EQ(reason.change,
            "sysctl vm.max_map_count=65532 or more, or make fewer and larger mappings");
  EXPECT_EQ(reason.unit, Unit::Count);
}

TEST(CallReasons, locked_memory_is_refused_by_eagain) {
  constexpr std::uint64_t kLocked = 0x2022;
  const Facts facts{.numbers = {{"vm_locked", 60 * 1024}, {"rlimit_memlock", 64 * 1024}}};
  const Reason reason = only(map(8192, kLocked, EAGAIN), facts);
  EXPECT_EQ(reason.code, "rlimit_memlock");
  EXPECT_EQ(reason.excess, 4096U);
  EXPECT_TRUE(reasons_of(map(8192, 0x22, EAGAIN), facts).empty()) << "it locks nothing";
}

TEST(CallReasons, commitment_is_added_up_where_it_is_strict) {
  const Reason reason = only(
      map(3 * kMega),
      {.numbers = {
           {"overcommit_memory", 2}, {"committed", 99 * kMega}, {"commit_limit", 100 * kMega}}});
  EXPECT_EQ(reason.code, "overcommit_strict");
  EXPECT_EQ(reason.sentence,
            "vm.overcommit_memory=2 allows all programs together CommitLimit, 100.0 MiB: "
            "Committed_AS, 99.0 MiB in use + 3.0 MiB asked for are 2.0 MiB too much.");
  EXPECT_NE(reason.change.find("add 2.0 MiB of swap"), std::string::npos);
}

TEST(CallReasons, the_heuristic_refuses_one_request_for_more_than_there_is) {
  const Facts facts{
      .numbers = {{"overcommit_memory", 0}, {"total", 5 * kMega}, {"swap_total", kMega}}};
  const Reason reason = only(map(8 * kMega), facts);
  EXPECT_EQ(reason.code, "overcommit");
  EXPECT_EQ(reason.sentence,
            "vm.overcommit_memory=0 refuses one request for more than all memory and swap: 8.0 MiB "
            "asked for, MemTotal 5.0 MiB + SwapTotal 1.0 MiB = 6.0 MiB, 2.0 MiB too much.");
  constexpr std::uint64_t kNoReserve = 0x4022;
  EXPECT_TRUE(reasons_of(map(8 * kMega, kNoReserve), facts).empty());
}

TEST(CallReasons, the_pool_of_huge_pages_says_how_many_are_missing) {
  constexpr std::uint64_t kHuge = 0x40022;
  const Reason reason =
      only(map(8 * kMega, kHuge),
           {.numbers = {{"huge_page", 2 * kMega}, {"huge_free", 2}, {"huge_reserved", 1}}});
  EXPECT_EQ(reason.code, "hugetlb_pool");
  EXPECT_EQ(reason.change, "raise vm.nr_hugepages or vm.nr_overcommit_hugepages by 3");
}

TEST(CallReasons, a_fork_fails_in_a_full_cgroup) {
  const SystemCallDone fork{.call = SystemCall::Fork, .result = -ENOMEM};
  const Facts facts{.numbers = {{"cgroup_usage", 34 * kMega}, {"cgroup_limit", 34 * kMega}},
                    .texts = {{"cgroup", "/x"}}};
  const Reason reason = only(fork, facts);
  EXPECT_EQ(reason.sentence, "The memory of the cgroup /x is full: 34.0 MiB of 34.0 MiB used.");
  EXPECT_EQ(reason.change,
            "raise memory.limit_in_bytes (memory.max in version 2) of /x, or of a cgroup above it, "
            "over 34.0 MiB");
  EXPECT_TRUE(reasons_of(map(kMega), facts).empty()) << "a mapping takes no memory yet";
  const Facts kernel{.numbers = {{"cgroup_kernel_usage", kMega}, {"cgroup_kernel_limit", kMega}}};
  EXPECT_EQ(only(fork, kernel).code, "kernel_memory_cgroup");
}

TEST(CallReasons, what_nothing_explains_is_shown_as_it_was_read) {
  EXPECT_EQ(unexplained(map(kMega), nullptr).code, "not_read");
  EXPECT_EQ(unexplained(map(kMega), nullptr).asked, kMega);
  const Facts machine{.numbers = {{"total", 5 * kMega}}};
  EXPECT_EQ(unexplained(map(kMega), &machine).code, "process_ended");
  const Facts facts{.numbers = {{"vm_size", kMega}, {"mappings", 12}, {"max_map_count", 65530}},
                    .texts = {{"rlimit_as", "unlimited"}}};
  const Reason reason = unexplained(map(kMega), &facts);
  EXPECT_EQ(reason.code, "not_explained");
  EXPECT_NE(reason.sentence.find("address space 1.0 MiB of unlimited"), std::string::npos);
  EXPECT_NE(reason.sentence.find("mappings 12 of 65,530"), std::string::npos);
}

}  // namespace
}  // namespace memtrace::call_reasons_test
