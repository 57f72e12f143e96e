// Compares events and figures of /proc with the triggers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sections/watch_facts.h"
#include "state/world/world.h"
#include "tracepoints/event/event.h"
#include "watch/machine_levels.h"
#include "watch/resident_sizes.h"
#include "watch/trigger.h"
#include "watch/trigger_gate.h"

namespace memtrace {

// A trigger that has just fired.
struct Firing {
  FiredTrigger fired;
  std::string label;                   // of a file's name
  std::optional<ResidentSize> killed;  // as large as the victim was; it is gone from /proc
};

class TriggerWatch {
 public:
  TriggerWatch(const std::vector<Trigger>& triggers,
               std::uint64_t before_ns,
               std::uint64_t after_ns);

  // An event that the world knows by now; `now_ns` is CLOCK_MONOTONIC.
  void on(const Event& event, const World& world, std::uint64_t now_ns);

  // Once a second. `time_ns` is on the records' clock.
  void compare(const MachineLevels& levels, std::uint64_t time_ns, std::uint64_t now_ns);

  // The processes whose name a trigger has, with their size.
  void compare_sizes(const World& world, std::uint64_t time_ns, std::uint64_t now_ns);

  // Whether compare() and compare_sizes() have anything to compare.
  bool wants_levels() const;
  bool wants_sizes() const;

  // Those that fired since this was last asked.
  std::vector<Firing> take() { return std::exchange(firings_, {}); }

 private:
  struct Watched {
    Trigger trigger;
    TriggerGate gate;
  };

  void on_kill(const Event& event, const World& world, std::uint64_t now_ns);
  void on_call(const Event& event, const World& world, std::uint64_t now_ns);
  void on_work(const Event& event, const World& world, std::uint64_t now_ns);
  void compare_swap_in(Watched& watched, const MachineLevels& levels, std::uint64_t now_ns);
  void compare_available(Watched& watched, const MachineLevels& levels, std::uint64_t now_ns);
  void compare_size(Watched& watched,
                    const std::string& comm,
                    std::uint32_t pid,
                    std::uint64_t now_ns);
  void fire(Watched& watched, std::uint64_t now_ns, std::string text);

  std::vector<Watched> watched_;
  std::vector<Firing> firings_;
  std::uint64_t time_ns_ = 0;  // of what is being looked at, on the records' clock
  std::optional<std::uint64_t> swapped_in_pages_;
  std::uint64_t swapped_in_at_ns_ = 0;
};

}  // namespace memtrace
