#include "state/mapping/system_calls.h"

namespace memtrace {

void SystemCalls::enter(std::uint32_t tid, const Begun& begun) {
  const auto [known, is_new] = begun_.try_emplace(tid, begun);
  if (!is_new) {
    ++unfinished_;
    known.value() = begun;
  }
}

std::optional<SystemCalls::Begun> SystemCalls::leave(std::uint32_t tid, SystemCall call) {
  const auto known = begun_.find(tid);
  if (known == begun_.end()) {
    return std::nullopt;
  }
  const Begun begun = known->second;
  begun_.erase(known);
  if (begun.entry.call != call) {
    ++unfinished_;
    return std::nullopt;
  }
  return begun;
}

}  // namespace memtrace
