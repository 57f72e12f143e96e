#include "plan/probes/user_probes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace memtrace {
namespace {

const Target kShell{.kind = TargetKind::Command, .command = {"/bin/sh"}};

TEST(UserProbes, plan_says_the_lines_for_the_kernel_and_defines_nothing) {
  auto probes = UserProbes::plan(kShell);
  ASSERT_TRUE(probes.ok()) << describe(probes.error());
  const auto requests = probes.value()->add_heap({.calls = true, .frees = true});
  ASSERT_TRUE(requests.ok()) << describe(requests.error());
  const auto commands = probes.value()->commands();
  EXPECT_FALSE(commands.empty());
  EXPECT_TRUE(std::ranges::any_of(commands, [](const std::string& line) {
    return line.find("malloc") != std::string::npos && line.find("libc") != std::string::npos;
  }));
  for (const EventRequest& request : requests.value()) {
    EXPECT_TRUE(request.on_user_code) << request.info.name;
  }
}

TEST(UserProbes, function_that_is_not_there_is_an_error_of_the_user) {
  auto probes = UserProbes::plan(kShell);
  ASSERT_TRUE(probes.ok());
  const auto event = probes.value()->add_event("uprobe:libc:no_such_function_at_all", 1);
  ASSERT_FALSE(event.ok());
  EXPECT_EQ(event.error().kind, ErrorKind::Usage);
  const auto file = probes.value()->add_event("uprobe:libnothere:malloc", 1);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().kind, ErrorKind::Usage);
}

TEST(UserProbes, named_function_is_probed_with_its_period) {
  auto probes = UserProbes::plan(kShell);
  ASSERT_TRUE(probes.ok());
  const auto event = probes.value()->add_event("uprobe:libc:malloc(size=arg1)", 5);
  ASSERT_TRUE(event.ok()) << describe(event.error());
  ASSERT_FALSE(event.value().empty());
  EXPECT_EQ(event.value().front().info.period, 5U);
}

TEST(UserProbes, needs_of_the_heap_are_taken_out_of_a_views_needs) {
  constexpr auto kNeeds =
      std::to_array<std::string_view>({"heap:calls", "heap:frees", "syscalls:sys_enter_mmap|"});
  HeapNeeds heap;
  const auto rest = without_heap_needs(kNeeds, heap);
  EXPECT_TRUE(heap.calls);
  EXPECT_FALSE(heap.returns);
  EXPECT_TRUE(heap.frees);
  EXPECT_EQ(rest, std::vector<std::string_view>{"syscalls:sys_enter_mmap|"});
}

}  // namespace
}  // namespace memtrace
