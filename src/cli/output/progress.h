// Says on a terminal how far something has come that takes long. Nothing is shown in the first two
// seconds, and nothing where standard error is no terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace memtrace {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  // `what`: "reading", "removing probes".
  explicit Progress(std::string what) : Progress(std::move(what), is_shown_here(), Clock::now) {}

  Progress(std::string what, bool is_shown, Clock::time_point (*now)())
      : what_(std::move(what)), is_shown_(is_shown), now_(now), next_(now() + kPatience) {}

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;

  ~Progress() { end(); }

  // `whole` 0: not known. Cheap: it looks at the clock each time and no more.
  void at(std::uint64_t done, std::uint64_t whole);

  // Removes the line.
  void end();

 private:
  static constexpr std::chrono::seconds kPatience{2};
  static constexpr std::chrono::milliseconds kPause{200};

  static bool is_shown_here();

  std::string what_;
  bool is_shown_;
  Clock::time_point (*now_)();
  Clock::time_point next_;
  bool has_line_ = false;
};

// "reading: 45 %", "reading" where the whole is not known.
std::string describe_progress(const std::string& what, std::uint64_t done, std::uint64_t whole);

}  // namespace memtrace
