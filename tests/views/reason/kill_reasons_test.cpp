#include "views/reason/kill_reasons.h"

#include <gtest/gtest.h>

namespace memtrace::kill_reasons_test {
namespace {

constexpr std::uint64_t kMega = 1U << 20U;

TEST(KillReasons, a_full_cgroup_is_named_with_its_limit) {
  const Observation seen{
      .facts = {.numbers = {{"cgroup_usage", 34 * kMega}, {"cgroup_limit", 34 * kMega}},
                .texts = {{"cgroup", "/x"}}}};
  const Reason reason =
      reason_of({.trigger = "hog", .domain = "cgroup", .held = 30 * kMega, .seen = &seen});
  EXPECT_EQ(reason.code, "memory_cgroup");
  EXPECT_EQ(reason.sentence,
            "The memory of the cgroup /x was full: 34.0 MiB of 34.0 MiB used, and nothing was left "
            "to reclaim. The victim held 30.0 MiB. hog asked for memory.");
  EXPECT_EQ(reason.change,
            "raise memory.limit_in_bytes (memory.max in version 2) of /x over 34.0 MiB");
  EXPECT_EQ(reason.limit, 34 * kMega);
}

TEST(KillReasons, a_machine_without_memory_is_shown_with_its_swap) {
  const Observation seen{
      .facts = {.numbers = {
                    {"free", kMega}, {"total", 512 * kMega}, {"swap_free", 0}, {"swap_total", 0}}}};
  const Reason reason = reason_of({.domain = "machine", .seen = &seen});
  EXPECT_EQ(reason.code, "machine");
  EXPECT_EQ(reason.sentence, "The machine had 1.0 MiB of 512.0 MiB free, and 0 B of 0 B of swap.");
}

TEST(KillReasons, what_is_not_known_is_said) {
  EXPECT_EQ(reason_of(KillFacts{}).code, "not_known");
  EXPECT_EQ(reason_of({.domain = "sysrq"}).code, "sysrq");
  EXPECT_NE(reason_of({.domain = "cgroup"}).sentence.find("an unknown amount"), std::string::npos);
}

}  // namespace
}  // namespace memtrace::kill_reasons_test
