// A terminal that tmux shows, for tests that look at what is on a screen. Its server is the test's
// own: the socket is in the test's folder.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/run_command.h"

namespace memtrace::test {

inline std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

// In columns: a byte that continues a character of UTF-8 is none.
inline std::size_t columns_of(const std::string& line) {
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

// Base runs scripts in the test's folder: run(script).
template <typename Base>
class TmuxTest : public Base {
 protected:
  void SetUp() override {
    Base::SetUp();
    if (!this->IsSkipped() && this->run("tmux -V").status != 0) {
      GTEST_SKIP() << "tmux is not installed: nothing can look at a full screen";
    }
  }

  void TearDown() override {
    if (is_started_) {
      tmux("kill-server");
    }
    Base::TearDown();
  }

  Outcome tmux(const std::string& words) {
    return this->run("env -u TMUX LC_ALL=C.UTF-8 tmux -S ./socket -f /dev/null " + words);
  }

  // The script may hold no single quote.
  void open_terminal(std::size_t columns, std::size_t lines, const std::string& script) {
    is_started_ = true;
    const Outcome started = tmux("new-session -d -x " + std::to_string(columns) + " -y " +
                                 std::to_string(lines) + " '" + script + "'");
    ASSERT_EQ(started.status, 0) << started.all();
  }

  std::string screen() { return tmux("capture-pane -p").out; }

  // Each look is a process more: not too many of them.
  bool shows(std::string_view text) {
    constexpr int kLooks = 200;
    for (int look = 0; look < kLooks; ++look) {
      if (screen().find(text) != std::string::npos) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }

  void press(const std::string& keys) { EXPECT_EQ(tmux("send-keys " + keys).status, 0); }

 private:
  bool is_started_ = false;
};

}  // namespace memtrace::test
