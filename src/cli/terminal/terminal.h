// The user's terminal as a full screen: keys in, frames out. It never makes memtrace wait.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/terminal/frame.h"
#include "cli/terminal/frame_writer.h"
#include "cli/terminal/key.h"
#include "cli/terminal/terminal_guard.h"
#include "os/unique_fd.h"

namespace memtrace {

class TopTerminal {
 public:
  // Error: Usage, standard output is no terminal, or one that cannot move its cursor. To be opened
  // before threads are started, and before what a child process must not hold open.
  static Result<std::unique_ptr<TopTerminal>> open();
  TopTerminal(const TopTerminal&) = delete;
  TopTerminal& operator=(const TopTerminal&) = delete;
  TopTerminal(TopTerminal&&) = delete;
  TopTerminal& operator=(TopTerminal&&) = delete;
  // The terminal is as it was, and shows what was said on standard error.
  ~TopTerminal();

  ScreenSize size() const;

  // What was typed since the last call.
  std::vector<Key> take_keys();

  // Nobody sits there any more: the line was cut.
  bool is_gone() const { return is_gone_; }

  // A frame that the line has no room for yet goes out with the next calls.
  void show(const ScreenFrame& frame);
  void send_rest();

  // Frames have gone out whole: another one may follow.
  bool is_ready() const { return unsent_.empty(); }

  void forget_screen() { writer_.forget(); }

 private:
  TopTerminal() = default;
  Result<> set_up();
  Result<> divert_messages();

  UniqueFd terminal_;
  UniqueFd messages_;
  UniqueFd standard_error_;
  std::unique_ptr<TerminalGuard> guard_;
  KeyDecoder decoder_;
  FrameWriter writer_;
  std::string unsent_;
  std::chrono::steady_clock::time_point last_byte_;
  bool is_gone_ = false;
};

}  // namespace memtrace
