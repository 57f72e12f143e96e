#include "decode/probed_callers.h"

#include <gtest/gtest.h>

#include <array>

namespace memtrace {
namespace {

constexpr std::uint64_t kKernel = 0xffffffffffffff80U;
constexpr std::uint64_t kUser = 0xfffffffffffffe00U;
constexpr std::array<std::uint64_t, 1> kCaller = {0xffffffff81002000U};

EventType probe(const std::string& name, const std::string& field) {
  EventType type{.name = name};
  type.format.fields.push_back({.name = field, .size_bytes = sizeof(std::uint64_t)});
  return type;
}

using Chain = std::vector<std::uint64_t>;

Chain completed(const EventType& type, const Chain& chain) {
  ProbedCallers callers;
  callers.learn(type);
  const auto whole = callers.complete(type, chain, std::as_bytes(std::span(kCaller)));
  return {whole.begin(), whole.end()};
}

constexpr std::uint64_t kFunction = 0xffffffff81001000U;
constexpr std::uint64_t kOuter = 0xffffffff81003000U;

TEST(ProbedCallersTest, caller_that_frame_pointers_miss_is_put_in) {
  const EventType type = probe("memtrace_kernel_7:oom_kill_process", "caller");
  EXPECT_EQ(completed(type, {kKernel, kFunction, kOuter, kUser, 0x401000}),
            (Chain{kKernel, kFunction, kCaller[0], kOuter, kUser, 0x401000}));
  EXPECT_EQ(completed(type, {kKernel, kFunction}), (Chain{kKernel, kFunction, kCaller[0]}));
  EXPECT_EQ(completed(probe("probe:oom_kill_process", "caller"), {kKernel, kFunction, kOuter}),
            (Chain{kKernel, kFunction, kCaller[0], kOuter}));
}

TEST(ProbedCallersTest, whole_stacks_and_those_of_others_stay_as_they_are) {
  const EventType type = probe("memtrace_kernel_7:oom_kill_process", "caller");
  for (const Chain& chain : {Chain{kKernel, kFunction, kCaller[0], kOuter},
                             Chain{kUser, 0x401000},
                             Chain{kKernel},
                             Chain{}}) {
    EXPECT_EQ(completed(type, chain), chain);
  }
  const Chain chain = {kKernel, kFunction, kOuter};
  EXPECT_EQ(completed(probe("memtrace_kernel_7:do_exit", "code"), chain), chain);
  EXPECT_EQ(completed(probe("memtrace_7:oom_kill_process", "caller"), chain), chain);
}

}  // namespace
}  // namespace memtrace
