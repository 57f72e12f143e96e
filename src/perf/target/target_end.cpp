#include "perf/target/target_end.h"

#include <sys/wait.h>

#include <chrono>
#include <csignal>

#include "os/guarded_thread.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr std::chrono::seconds kPatience{2};

}  // namespace

Result<> TargetEnd::release() {
  return command_ ? command_->release() : Result<>(kDone);
}

bool TargetEnd::is_gone() const {
  return target_.kind != TargetKind::System && target_.kind != TargetKind::Command &&
         all_ended(target_.ids);
}

bool TargetEnd::has_come() {
  if (command_ && !command_status_) {
    command_status_ = command_->poll_exit();
  }
  if (const auto signal = signals_ != nullptr ? signals_->poll() : std::nullopt) {
    ask(signal->from_terminal ? 0 : signal->number);
  }
  if (!is_over_ && deadline_ns_ != 0 && monotonic_ns() >= deadline_ns_) {
    ask(SIGTERM);  // the command too, as perf record does
  }
  return !is_over_ && (is_asked_ || command_status_ || is_gone() || has_failed_thread());
}

bool TargetEnd::has_come_by_now() {
  constexpr std::uint32_t kTimesBetween = 1024;
  if (++asked_since_look_ < kTimesBetween) {
    return false;
  }
  asked_since_look_ = 0;
  return has_come();
}

void TargetEnd::ask(int signal) {
  if (command_ && !command_status_ && signal != 0) {
    command_->terminate(signal);
  }
  is_asked_ = true;
}

std::optional<int> TargetEnd::end_command() {
  ended_command_ = true;
  if (!command_ || command_status_) {
    return command_status_;
  }
  command_->terminate(SIGTERM);
  command_status_ = command_->wait_exit(kPatience);
  // That it died of our signal says nothing about it; that it caught it and chose a status does.
  const bool by_us = command_status_ && WIFSIGNALED(*command_status_);
  return by_us ? std::nullopt : command_status_;
}

void TargetEnd::give_up() {
  if (command_ && !ended_command_ && !command_->is_held()) {
    (void)end_command();
    command_->terminate(SIGKILL);
  }
}

}  // namespace memtrace
