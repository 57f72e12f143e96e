#include "watch/trigger_watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "base/units.h"
#include "observe/kernel_log.h"
#include "state/mapping/refused_memory.h"
#include "watch/oom_words.h"

namespace memtrace {
namespace {

// Figures of /proc are compared once a second.
constexpr std::uint64_t kLeastQuietNs = 2'000'000'000;

std::string process_words(const Event& event, const World& world) {
  const std::string_view comm = world.strings().at(event.comm);
  return fmt::format("{} (pid {})", comm.empty() ? "a process" : comm, event.pid);
}

// "mmap" of syscalls:sys_exit_mmap.
std::string call_name(const Event& event) {
  constexpr std::string_view kExit = "syscalls:sys_exit_";
  return event.type->name.starts_with(kExit) ? event.type->name.substr(kExit.size())
                                             : "a system call";
}

// What was asked for, if the call says it.
std::string asked_of(const SystemCallDone& done) {
  switch (done.call) {
    case SystemCall::Mmap:
      return " of " + print_bytes(done.arguments[1]);
    case SystemCall::Mremap:
      return " to " + print_bytes(done.arguments[2]);
    default:
      return "";
  }
}

// Of these a thread waits; kswapd's work is its own.
bool is_stall(WorkKind kind) {
  return kind <= WorkKind::NodeReclaim;
}

std::string_view why_of(WorkKind kind) {
  constexpr auto kWhy = std::to_array<std::string_view>(
      {"direct reclaim", "reclaim for its cgroup's limit", "soft limit reclaim", "node reclaim"});
  return kWhy.at(static_cast<std::size_t>(kind));
}

}  // namespace

TriggerWatch::TriggerWatch(const std::vector<Trigger>& triggers,
                           std::uint64_t before_ns,
                           std::uint64_t after_ns) {
  for (const Trigger& trigger : triggers) {
    // No kill is a repetition of the one before.
    const TriggerGate gate =
        trigger.kind == TriggerKind::Oom
            ? TriggerGate(0, 0)
            : TriggerGate(std::max(after_ns, kLeastQuietNs), before_ns + after_ns);
    watched_.push_back({trigger, gate});
  }
}

bool TriggerWatch::wants_levels() const {
  return std::ranges::any_of(watched_, [](const Watched& watched) {
    return watched.trigger.kind == TriggerKind::SwapIn ||
           watched.trigger.kind == TriggerKind::Available;
  });
}

bool TriggerWatch::wants_sizes() const {
  return std::ranges::any_of(
      watched_, [](const Watched& watched) { return watched.trigger.kind == TriggerKind::Rss; });
}

void TriggerWatch::fire(Watched& watched, std::uint64_t now_ns, std::string text) {
  if (watched.gate.holds(now_ns)) {
    firings_.push_back({.fired = {watched.trigger.word, time_ns_, std::move(text)},
                        .label = watched.trigger.label(),
                        .killed = {}});
  }
}

void TriggerWatch::on(const Event& event, const World& world, std::uint64_t now_ns) {
  time_ns_ = event.time_ns;
  if (std::holds_alternative<SystemCallDone>(event.payload)) {
    on_call(event, world, now_ns);
  } else if (std::holds_alternative<Work>(event.payload)) {
    on_work(event, world, now_ns);
  } else if (is_oom_kill(event, end_of_kernel_log)) {
    on_kill(event, world, now_ns);
  }
}

void TriggerWatch::on_kill(const Event& event, const World& world, std::uint64_t now_ns) {
  for (Watched& watched : watched_) {
    if (watched.trigger.kind != TriggerKind::Oom) {
      continue;
    }
    const OomVictimWords victim = describe_kill(event, world, end_of_kernel_log());
    const std::size_t before = firings_.size();
    fire(watched, now_ns, victim.text);
    if (firings_.size() > before) {
      firings_.back().killed = victim.size;
    }
  }
}

void TriggerWatch::on_call(const Event& event, const World& world, std::uint64_t now_ns) {
  const auto& done = std::get<SystemCallDone>(event.payload);
  for (Watched& watched : watched_) {
    if (watched.trigger.kind == TriggerKind::Enomem && was_refused_memory(done)) {
      fire(watched,
           now_ns,
           fmt::format("the kernel refused memory to {}: {}{} failed",
                       process_words(event, world),
                       call_name(event),
                       asked_of(done)));
    }
  }
}

void TriggerWatch::on_work(const Event& event, const World& world, std::uint64_t now_ns) {
  const auto& work = std::get<Work>(event.payload);
  for (Watched& watched : watched_) {
    if (watched.trigger.kind != TriggerKind::Reclaim || !work.has_begin ||
        !is_stall(work.end.kind) || work.duration_ns <= watched.trigger.limit) {
      continue;
    }
    const std::string order =
        work.begin.order < 0 ? "" : fmt::format(", order {}", work.begin.order);
    fire(watched,
         now_ns,
         fmt::format("{} waited {} in {}{}",
                     process_words(event, world),
                     print_duration(work.duration_ns),
                     why_of(work.end.kind),
                     order));
  }
}

void TriggerWatch::compare(const MachineLevels& levels,
                           std::uint64_t time_ns,
                           std::uint64_t now_ns) {
  time_ns_ = time_ns;
  for (Watched& watched : watched_) {
    if (watched.trigger.kind == TriggerKind::SwapIn) {
      compare_swap_in(watched, levels, now_ns);
    } else if (watched.trigger.kind == TriggerKind::Available) {
      compare_available(watched, levels, now_ns);
    }
  }
  swapped_in_pages_ = levels.swapped_in_pages;
  swapped_in_at_ns_ = now_ns;
}

void TriggerWatch::compare_swap_in(Watched& watched,
                                   const MachineLevels& levels,
                                   std::uint64_t now_ns) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  if (!swapped_in_pages_ || !levels.swapped_in_pages || now_ns <= swapped_in_at_ns_) {
    return;
  }
  const std::uint64_t pages = *levels.swapped_in_pages - *swapped_in_pages_;
  const std::uint64_t milliseconds =
      std::max<std::uint64_t>((now_ns - swapped_in_at_ns_) / 1'000'000, 1);
  const std::uint64_t rate = pages * (kSecondNs / 1'000'000) / milliseconds;
  if (rate > watched.trigger.limit) {
    fire(watched, now_ns, fmt::format("{} pages a second were swapped in", print_count(rate)));
  }
}

void TriggerWatch::compare_available(Watched& watched,
                                     const MachineLevels& levels,
                                     std::uint64_t now_ns) {
  constexpr double kThousandths = 100'000;  // of a percent, in the whole
  if (!levels.available_bytes || !levels.total_bytes) {
    return;
  }
  const double limit = watched.trigger.is_share
                           ? static_cast<double>(*levels.total_bytes) *
                                 static_cast<double>(watched.trigger.limit) / kThousandths
                           : static_cast<double>(watched.trigger.limit);
  if (static_cast<double>(*levels.available_bytes) < limit) {
    fire(watched,
         now_ns,
         fmt::format("{} of the machine's {} were available",
                     print_bytes(*levels.available_bytes),
                     print_bytes(*levels.total_bytes)));
  }
}

void TriggerWatch::compare_size(Watched& watched,
                                const std::string& comm,
                                std::uint32_t pid,
                                std::uint64_t now_ns) {
  if (watched.trigger.kind != TriggerKind::Rss || !glob_match(watched.trigger.comm, comm)) {
    return;
  }
  const std::uint64_t bytes = resident_bytes(pid);
  if (bytes > watched.trigger.limit) {
    fire(
        watched, now_ns, fmt::format("{} (pid {}) had {} resident", comm, pid, print_bytes(bytes)));
  }
}

void TriggerWatch::compare_sizes(const World& world, std::uint64_t time_ns, std::uint64_t now_ns) {
  time_ns_ = time_ns;
  for (const auto& [pid, threads] : world.processes().running()) {
    const Process* process = world.processes().find(pid);
    const std::string comm(process == nullptr ? "" : world.strings().at(process->comm));
    for (Watched& watched : watched_) {
      compare_size(watched, comm, pid, now_ns);
    }
  }
}

}  // namespace memtrace
