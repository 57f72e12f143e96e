#include "views/stalls/stall_causes.h"

namespace memtrace {
namespace {

template <typename Weights>
double sum_of(const Weights& weights) {
  double sum = 0;
  for (const auto& each : weights) {
    sum += each.weight;
  }
  return sum;
}

}  // namespace

bool StallCauses::move_to(std::uint64_t time_ns) {
  if (!window_.is_behind(time_ns)) {
    return false;
  }
  settle();
  window_.move_to(time_ns);
  return true;
}

void StallCauses::add(const Stall& stall) {
  pending_[{stall.kind, stall.victim, stall.scope}] += stall.time_ns;
}

std::vector<StallCauses::Weight> StallCauses::weights(StallKind kind, std::uint32_t scope) const {
  std::vector<Weight> weights;
  for (const auto& [actor, pressure] : window_.sums()) {
    const std::int64_t weight = kind == StallKind::Throttled ? pressure.dirtied : pressure.pages;
    if (weight > 0 && charging_(scope, actor)) {
      weights.push_back({actor, static_cast<double>(weight)});
    }
  }
  return weights;
}

// Pages leave a cgroup for those who need memory in it, or in one that it is in.
std::vector<StallCauses::Weight> StallCauses::evictors(std::uint32_t victim) const {
  std::map<std::uint32_t, double> sums;
  for (const auto& [scope, by_actor] : evicted_) {
    if (!charging_(scope, victim)) {
      continue;
    }
    for (const auto& [actor, pages] : by_actor) {
      sums[actor] += pages;
    }
  }
  std::vector<Weight> weights;
  weights.reserve(sums.size());
  for (const auto& [actor, pages] : sums) {
    weights.push_back({actor, pages});
  }
  return weights;
}

void StallCauses::settle_evictions() {
  for (const auto& [scope, pages] : evicting_) {
    const std::vector<Weight> by = weights(StallKind::Direct, scope);
    const double sum = sum_of(by);
    for (const Weight& each : by) {
      evicted_[scope][each.actor] += static_cast<double>(pages) * each.weight / sum;
    }
  }
  evicting_.clear();
}

void StallCauses::settle() {
  settle_evictions();
  for (const auto& [key, time_ns] : pending_) {
    const std::vector<Weight> by =
        key.kind == StallKind::SwapIn ? evictors(key.victim) : weights(key.kind, key.scope);
    const double sum = sum_of(by);
    for (const Weight& each : by) {
      caused_[{key.kind, each.actor, key.victim}] += time_ns * each.weight / sum;
    }
    if (by.empty()) {
      caused_[{key.kind, kNobody, key.victim}] += time_ns;
    }
  }
  pending_.clear();
}

void StallCauses::forget_actors() {
  window_ = PressureWindow(window_ns_);
  pending_.clear();
  evicting_.clear();
  evicted_.clear();
  caused_.clear();
}

std::map<std::uint32_t, double> StallCauses::evicted() const {
  std::map<std::uint32_t, double> sums;
  for (const auto& [scope, by_actor] : evicted_) {
    for (const auto& [actor, pages] : by_actor) {
      sums[actor] += pages;
    }
  }
  return sums;
}

}  // namespace memtrace
