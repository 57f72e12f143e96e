#include "cli/top/top_screen.h"

#include <gtest/gtest.h>

#include "sample_snapshot.h"

namespace memtrace {
namespace {

class TopScreenTest : public testing::Test {
 protected:
  TopScreen::Setup setup() {
    TopScreen::Setup made;
    made.state.pane = 2;
    made.text_size = {.columns = 80, .lines = 22};
    made.print = [this](const std::string& text) -> Result<> {
      printed_ += text;
      return kDone;
    };
    return made;
  }

  // Of one interval of half a second.
  static std::vector<Report> reports() {
    std::vector<Report> reports = test::sample_snapshot().reports;
    for (Report& report : reports) {
      report.start_ns = 1'000'000'000;
      report.end_ns = 1'500'000'000;
    }
    return reports;
  }

  std::string printed_;
  test::FakeNamer namer_;
};

TEST_F(TopScreenTest, without_a_terminal_each_interval_is_text) {
  TopScreen screen(setup());
  ASSERT_TRUE(screen.show(reports(), namer_).ok());
  EXPECT_TRUE(screen.look()) << "there are no keys";
  EXPECT_EQ(printed_.substr(0, 14), "memtrace top  ");
  EXPECT_NE(printed_.find("filp           3.9 MiB    4,000       2 "), std::string::npos)
      << "2,000 allocations in half a second\n"
      << printed_;
  EXPECT_TRUE(printed_.ends_with("\n\n")) << "a blank line between intervals";
}

TEST_F(TopScreenTest, a_paused_screen_does_not_change) {
  auto paused = setup();
  paused.state.paused = true;
  TopScreen screen(std::move(paused));
  ASSERT_TRUE(screen.show(reports(), namer_).ok());
  EXPECT_EQ(printed_.find("filp"), std::string::npos) << printed_;
}

TEST_F(TopScreenTest, an_error_of_the_output_ends_the_run) {
  auto broken = setup();
  broken.print = [](const std::string&) -> Result<> { return Error{"write", 32, ""}; };
  TopScreen screen(std::move(broken));
  EXPECT_FALSE(screen.show(reports(), namer_).ok());
}

}  // namespace
}  // namespace memtrace
