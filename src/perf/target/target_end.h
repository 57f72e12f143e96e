// When a recording has to end: its command or its target has, the user asks for it, or its time is
// over.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "os/stop_signals.h"
#include "perf/target/target.h"

namespace memtrace {

class TargetEnd {
 public:
  // `target`, with the pid of a command, and `signals`, which may be null, outlive this.
  TargetEnd(const Target& target, std::optional<HeldCommand> command, StopSignals* signals)
      : target_(target), command_(std::move(command)), signals_(signals) {}

  TargetEnd(const TargetEnd&) = delete;
  TargetEnd& operator=(const TargetEnd&) = delete;
  TargetEnd(TargetEnd&&) = delete;
  TargetEnd& operator=(TargetEnd&&) = delete;

  // A command that runs although nobody waits for it any more is killed.
  ~TargetEnd() { give_up(); }

  // Lets the command run. Error: it cannot be run.
  Result<> release();

  // CLOCK_MONOTONIC; 0: there is none.
  void set_deadline(std::uint64_t deadline_ns) { deadline_ns_ = deadline_ns; }

  std::uint64_t deadline_ns() const { return deadline_ns_; }

  // Named processes or threads, and none of them is there any more.
  bool is_gone() const;

  // Looks at everything that ends a recording, and passes a signal on to the command.
  bool has_come();

  // The same for who looks often: every thousandth time.
  bool has_come_by_now();

  // Asks for the end; `signal` is passed on to the command, 0 = none.
  void ask(int signal);

  // The recording has ended: from now on nothing ends it any more.
  void note_over() { is_over_ = true; }

  // Wait status of the command; one that is still running is asked to end (SIGTERM) and waited for
  // a moment. Nothing when there is no command, it does not end, or it died of that signal.
  std::optional<int> end_command();

  // Ends a command that nobody has ended so far, by force if it must be.
  void give_up();

 private:
  const Target& target_;
  std::optional<HeldCommand> command_;
  StopSignals* signals_;
  std::optional<int> command_status_;
  std::uint64_t deadline_ns_ = 0;
  std::uint32_t asked_since_look_ = 0;  // has_come_by_now()
  bool is_asked_ = false;
  bool is_over_ = false;
  bool ended_command_ = false;  // end_command() was called
};

}  // namespace memtrace
