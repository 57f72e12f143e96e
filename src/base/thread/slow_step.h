// Says on a terminal what memtrace is doing when a step takes longer than a person expects. A
// thread says it: some steps are one call each, and their own thread cannot say anything before
// they end.
//
//   const SlowStep step("looking up names");
#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/thread/blocked_signals.h"

namespace memtrace {

class SlowStep {
 public:
  using Show = std::function<void(std::string_view)>;

  explicit SlowStep(std::string what) {
    if (::isatty(STDERR_FILENO) == 1) {
      begin(std::move(what), kPatience, show_status);
    }
  }

  // `show` is called in another thread, and at the end with "" if it was called before.
  SlowStep(std::string what, std::chrono::milliseconds patience, Show show) {
    begin(std::move(what), patience, std::move(show));
  }

  SlowStep(const SlowStep&) = delete;
  SlowStep& operator=(const SlowStep&) = delete;
  SlowStep(SlowStep&&) = delete;
  SlowStep& operator=(SlowStep&&) = delete;

  ~SlowStep() {
    if (!thread_.joinable()) {
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    over_.notify_all();
    thread_.join();
  }

 private:
  static constexpr std::chrono::milliseconds kPatience{2000};

  // Without a thread nothing is shown.
  void begin(std::string what, std::chrono::milliseconds patience, Show show) {
    const BlockedSignals blocked;
    try {
      thread_ = std::thread(&SlowStep::run, this, std::move(what), patience, std::move(show));
    } catch (const std::system_error&) {
      is_over_ = true;
    }
  }

  void run(const std::string& what, std::chrono::milliseconds patience, const Show& show) {
    std::unique_lock lock(mutex_);
    const auto is_over = [this] { return is_over_; };
    if (over_.wait_for(lock, patience, is_over)) {
      return;
    }
    show(what);
    over_.wait(lock, is_over);
    show("");
  }

  std::mutex mutex_;  // guards is_over_
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace memtrace
