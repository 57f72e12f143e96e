#include "base/thread/slow_step.h"

#include <gtest/gtest.h>

#include <mutex>
#include <vector>

namespace memtrace {
namespace {

using std::chrono::milliseconds;

class SlowStepTest : public testing::Test {
 protected:
  SlowStep::Show show() {
    return [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    };
  }

  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST_F(SlowStepTest, what_is_quick_is_not_shown) {
  { const SlowStep step("removing probes", milliseconds(60'000), show()); }
  EXPECT_TRUE(lines().empty());
}

TEST_F(SlowStepTest, what_takes_long_is_shown_until_it_is_over) {
  {
    const SlowStep step("removing probes", milliseconds(1), show());
    for (int i = 0; i < 2000 && lines().empty(); ++i) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    EXPECT_EQ(lines(), (std::vector<std::string>{"removing probes"}));
  }
  EXPECT_EQ(lines(), (std::vector<std::string>{"removing probes", ""}));
}

}  // namespace
}  // namespace memtrace
