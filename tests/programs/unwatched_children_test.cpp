#include "programs/unwatched_children.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "os/system.h"

namespace memtrace {
namespace {

class UnwatchedChildrenTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!read_file("/proc/thread-self/children").ok()) {
      GTEST_SKIP() << "this kernel lists no children";
    }
    child_ = ::fork();
    if (child_ == 0) {
      ::pause();
      ::_exit(0);
    }
  }

  void TearDown() override { end_child(); }

  void end_child() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
      child_ = 0;
    }
  }

  std::uint32_t child() const { return static_cast<std::uint32_t>(child_); }

  static Target processes(std::vector<std::uint32_t> ids) {
    return {.kind = TargetKind::Processes, .ids = std::move(ids), .command = {}};
  }

  const std::uint32_t own_ = static_cast<std::uint32_t>(::getpid());
  pid_t child_ = 0;
};

TEST_F(UnwatchedChildrenTest, a_child_that_runs_is_told_of_its_parent) {
  const std::string own = std::to_string(own_);
  EXPECT_EQ(unwatched_children(processes({own_})),
            "process " + own + " already has a running child, not watched: -p " + own +
                ",$(pgrep -d, -P " + own + ") watches both");
}

TEST_F(UnwatchedChildrenTest, nothing_is_said_when_all_are_watched) {
  EXPECT_EQ(unwatched_children(processes({own_, child()})), "");
  EXPECT_EQ(unwatched_children(processes({child()})), "");
  EXPECT_EQ(unwatched_children({.kind = TargetKind::System, .ids = {}, .command = {}}), "");
  end_child();
  EXPECT_EQ(unwatched_children(processes({own_})), "");
}

}  // namespace
}  // namespace memtrace
