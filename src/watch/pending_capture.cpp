#include "watch/pending_capture.h"

#include <algorithm>

namespace memtrace {

void PendingCapture::fire(Firing firing, std::vector<ResidentSize> sizes, std::uint64_t now_ns) {
  if (facts_.triggers.size() >= kMostTriggers) {
    return;
  }
  if (!is_waiting()) {
    fired_ns_ = now_ns;
    label_ = firing.label;
    sizes_ = std::move(sizes);
  }
  if (firing.killed) {  // of what /proc says by now, nothing is left
    std::erase_if(sizes_, [&](const ResidentSize& size) { return size.pid == firing.killed->pid; });
    sizes_.push_back(*firing.killed);
    killed_.push_back(firing.killed->pid);
  }
  facts_.triggers.push_back(std::move(firing.fired));
}

WatchFacts PendingCapture::facts(const std::vector<ResidentSize>& before,
                                 std::uint64_t since_ns) const {
  WatchFacts facts = facts_;
  facts.grown = grown_since(before, sizes_);
  const auto was_killed = [this](const GrownProcess& process) {
    return std::ranges::find(killed_, process.pid) != killed_.end();
  };
  std::stable_partition(facts.grown.begin(), facts.grown.end(), was_killed);
  facts.sizes_ns = fired_ns_ - std::min(fired_ns_, since_ns);
  return facts;
}

}  // namespace memtrace
