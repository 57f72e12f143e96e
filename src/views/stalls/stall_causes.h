// Divides each stall among those who caused it. Stalls of one slot of the window are divided
// together when the slot ends: by what each actor had allocated, or made dirty, until then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "views/stalls/pressure_window.h"

namespace memtrace {

// Direct: of the machine. Background: work of kswapd and kcompactd, for which nobody waits.
enum class StallKind : std::uint8_t {
  Direct,
  Cgroup,
  Compaction,
  SwapIn,
  Throttled,
  Background,
};

inline constexpr std::size_t kStallKinds = 6;

struct Stall {
  StallKind kind = StallKind::Direct;
  std::uint32_t victim = 0;  // an actor
  std::uint32_t scope = 0;   // whose memory was short; of a swap-in, that of the victim
  double time_ns = 0;
};

class StallCauses {
 public:
  static constexpr std::uint32_t kNobody = 0xffffffffU;  // nothing that was seen caused it

  // Whether memory of the actor is charged to the scope.
  using Charging = std::function<bool(std::uint32_t scope, std::uint32_t actor)>;

  struct Cause {
    StallKind kind = StallKind::Direct;
    std::uint32_t aggressor = kNobody;
    std::uint32_t victim = 0;

    // NOLINTNEXTLINE(modernize-use-nullptr): the compiler itself compares the result with 0.
    friend auto operator<=>(const Cause&, const Cause&) = default;
  };

  StallCauses(std::uint64_t window_ns, Charging charging)
      : window_ns_(window_ns), window_(window_ns), charging_(std::move(charging)) {}

  // To be called before anything that happens at this time is added. True if a slot ended: what was
  // pending is divided.
  bool move_to(std::uint64_t time_ns);

  PressureWindow& window() { return window_; }

  const PressureWindow& window() const { return window_; }

  void add(const Stall& stall);

  // Pages that reclaim in this scope wrote to swap: swap-ins later are for them.
  void add_evicted(std::uint32_t scope, std::uint64_t pages) { evicting_[scope] += pages; }

  // Divides what is pending.
  void settle();

  // Nanoseconds. What was divided since this was last cleared.
  const std::map<Cause, double>& caused() const { return caused_; }

  void clear_caused() { caused_.clear(); }

  // Numbers of actors mean others from now on: nothing that was before has caused anything.
  void forget_actors();

  // Pages that were written to swap for an actor.
  std::map<std::uint32_t, double> evicted() const;

 private:
  struct Weight {
    std::uint32_t actor = 0;
    double weight = 0;
  };

  struct PendingKey {
    StallKind kind = StallKind::Direct;
    std::uint32_t victim = 0;
    std::uint32_t scope = 0;

    // NOLINTNEXTLINE(modernize-use-nullptr): the compiler itself compares the result with 0.
    friend auto operator<=>(const PendingKey&, const PendingKey&) = default;
  };

  std::vector<Weight> weights(StallKind kind, std::uint32_t scope) const;
  std::vector<Weight> evictors(std::uint32_t victim) const;
  void settle_evictions();

  std::uint64_t window_ns_;
  PressureWindow window_;
  Charging charging_;
  std::map<PendingKey, double> pending_;
  std::map<std::uint32_t, std::uint64_t> evicting_;                   // pages, by scope
  std::map<std::uint32_t, std::map<std::uint32_t, double>> evicted_;  // by scope and actor
  std::map<Cause, double> caused_;
};

}  // namespace memtrace
