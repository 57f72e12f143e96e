#include "unwind/shared_rules.h"

namespace memtrace {
namespace {

template <typename T>
std::vector<T> rest_of(const std::vector<T>& all, std::size_t& position) {
  std::vector<T> rest(all.begin() + static_cast<std::ptrdiff_t>(position), all.end());
  position = all.size();
  return rest;
}

}  // namespace

void SharedRules::add(const Rule& rule) {
  const std::lock_guard lock(mutex_);
  if (rules_.size() + spaces_.size() >= kMaxRules) {
    rules_.clear();
    spaces_.clear();
    entered_.clear();
    ++epoch_;
  }
  rules_.push_back(rule);
  version_.fetch_add(1, std::memory_order_release);
}

void SharedRules::enter(Space entered) {
  const auto [known, is_new] = entered_.try_emplace(entered.pid, entered.space);
  if (!is_new && known->second == entered.space) {
    return;
  }
  known->second = entered.space;
  const std::lock_guard lock(mutex_);
  spaces_.push_back(entered);
  version_.fetch_add(1, std::memory_order_release);
}

SharedRules::News SharedRules::read(Position& position) const {
  const std::lock_guard lock(mutex_);
  if (position.epoch != epoch_) {
    position = {.epoch = epoch_};
  }
  position.version = version_.load(std::memory_order_relaxed);
  return {.rules = rest_of(rules_, position.rules), .spaces = rest_of(spaces_, position.spaces)};
}

}  // namespace memtrace
