#include "perf/target/target.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace memtrace {
namespace {

TEST(HeldCommand, waits_to_be_released_and_gives_its_status) {
  auto command =
      HeldCommand::spawn({.kind = TargetKind::Command, .command = {"sh", "-c", "exit 3"}});
  ASSERT_TRUE(command.ok());
  EXPECT_FALSE(command.value().poll_exit().has_value());
  ASSERT_TRUE(command.value().release().ok());
  std::optional<int> status;
  for (int i = 0; i < 500 && !status; ++i) {
    status = command.value().poll_exit();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(WEXITSTATUS(*status), 3);
  EXPECT_EQ(describe_wait_status(*status), "exited with status 3");
}

TEST(HeldCommand, a_command_that_is_not_there_is_an_error_with_a_hint) {
  auto command = HeldCommand::spawn({.kind = TargetKind::Command, .command = {"/no/such/command"}});
  ASSERT_TRUE(command.ok());
  const auto released = command.value().release();
  ASSERT_FALSE(released.ok());
  EXPECT_EQ(released.error().errno_value, ENOENT);
  EXPECT_FALSE(released.error().hint.empty());
}

TEST(HeldCommand, an_unreleased_command_never_runs) {
  pid_t pid = 0;
  {
    auto command = HeldCommand::spawn({.kind = TargetKind::Command, .command = {"sleep", "1000"}});
    ASSERT_TRUE(command.ok());
    pid = command.value().pid();
  }
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
}

TEST(Target, a_family_has_the_children_of_now) {
  const auto family = [] {
    return family_tasks_of(
        {.kind = TargetKind::Processes, .ids = {static_cast<std::uint32_t>(::getpid())}});
  };
  const auto has = [&family](pid_t pid) {
    const auto tids = family();
    return std::ranges::find(tids, pid) != tids.end();
  };
  EXPECT_TRUE(has(::getpid()));
  auto command = HeldCommand::spawn({.kind = TargetKind::Command, .command = {"true"}});
  ASSERT_TRUE(command.ok());
  const HeldCommand held = command.take();
  EXPECT_TRUE(has(held.pid()));
  EXPECT_EQ(family_tasks_of({.kind = TargetKind::System}), std::vector<std::int32_t>{-1});
  EXPECT_EQ(family_tasks_of({.kind = TargetKind::Threads, .ids = {7}}),
            std::vector<std::int32_t>{7});
}

TEST(Target, a_process_that_is_not_there_is_an_error) {
  EXPECT_FALSE(threads_of(0x7ffffffe).ok());
  EXPECT_GE(threads_of(static_cast<std::uint32_t>(::getpid())).value().size(), 1U);
}

}  // namespace
}  // namespace memtrace
