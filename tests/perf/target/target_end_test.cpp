#include "perf/target/target_end.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "os/system.h"

namespace memtrace {
namespace {

const Target kSystem{.kind = TargetKind::System};

TEST(TargetEndTest, whole_machine_ends_when_somebody_asks) {
  TargetEnd end(kSystem, std::nullopt, nullptr);
  EXPECT_FALSE(end.has_come());
  end.ask(0);
  EXPECT_TRUE(end.has_come());
  end.note_over();
  EXPECT_FALSE(end.has_come()) << "it has ended";
}

TEST(TargetEndTest, deadline_is_the_end) {
  TargetEnd end(kSystem, std::nullopt, nullptr);
  end.set_deadline(monotonic_ns() + 1'000'000'000'000);
  EXPECT_FALSE(end.has_come());
  end.set_deadline(1);
  EXPECT_TRUE(end.has_come());
}

TEST(TargetEndTest, who_looks_often_gets_an_answer_now_and_then) {
  TargetEnd end(kSystem, std::nullopt, nullptr);
  end.ask(0);
  std::size_t looks = 1;
  while (!end.has_come_by_now() && looks < 5000) {
    ++looks;
  }
  EXPECT_EQ(looks, 1024U);
}

TEST(TargetEndTest, process_that_has_ended_is_the_end) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(0);
  }
  const Target target{.kind = TargetKind::Processes, .ids = {static_cast<std::uint32_t>(child)}};
  TargetEnd end(target, std::nullopt, nullptr);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(end.is_gone());
  EXPECT_TRUE(end.has_come());
}

class TargetEndCommandTest : public testing::Test {
 protected:
  // `command`, let run.
  TargetEnd& run(std::vector<std::string> command) {
    target_ = {.kind = TargetKind::Command, .command = std::move(command)};
    auto held = HeldCommand::spawn(target_);
    EXPECT_TRUE(held.ok());
    pid_ = held.value().pid();
    end_.emplace(target_, held.take(), nullptr);
    EXPECT_TRUE(end_->release().ok());
    return *end_;
  }

  Target target_;
  pid_t pid_ = 0;
  std::optional<TargetEnd> end_;
};

TEST_F(TargetEndCommandTest, end_of_the_command_is_the_end_and_its_status_is_kept) {
  TargetEnd& end = run({"/bin/sh", "-c", "exit 3"});
  for (int tries = 0; tries < 1000 && !end.has_come(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const auto status = end.end_command();
  ASSERT_TRUE(status);
  EXPECT_EQ(WEXITSTATUS(*status), 3);
}

TEST_F(TargetEndCommandTest, command_that_dies_of_our_signal_has_no_status) {
  TargetEnd& end = run({"/bin/sleep", "1000"});
  EXPECT_FALSE(end.has_come());
  EXPECT_EQ(end.end_command(), std::nullopt);
}

TEST_F(TargetEndCommandTest, command_does_not_outlive_a_recording_that_failed) {
  run({"/bin/sleep", "1000"});
  ASSERT_EQ(::kill(pid_, 0), 0);
  end_.reset();
  EXPECT_NE(::kill(pid_, 0), 0);
}

}  // namespace
}  // namespace memtrace
