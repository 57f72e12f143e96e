// The end of an event set: what was lost is counted, and its descriptors are given away.
#include <algorithm>
#include <iterator>
#include <utility>

#include "perf/event/event_set.h"

namespace memtrace {

void EventSet::disable() {
  for (const OpenedFd& opened : fds_) {
    (void)opened.fd.disable();  // fails only for an event that is already in an error state
  }
  lost_ = 0;
  for (const OpenedFd& opened : fds_) {
    lost_ += opened.fd.read_lost();
  }
}

// A ring stays until it is unmapped, but who waits for its data does so with its owner's
// descriptor. Breakpoints in the code of others are to go before the events that none but the
// kernel meets.
std::vector<OpenedFd> EventSet::take_closable() {
  const auto owns_ring = [this](const OpenedFd& opened) {
    return std::ranges::find(ring_fds_, opened.fd.fd()) != ring_fds_.end();
  };
  const auto closable = std::stable_partition(fds_.begin(), fds_.end(), owns_ring);
  std::vector<OpenedFd> taken(std::make_move_iterator(closable),
                              std::make_move_iterator(fds_.end()));
  fds_.erase(closable, fds_.end());
  std::ranges::stable_partition(taken, [](const OpenedFd& opened) { return !opened.on_user_code; });
  return taken;
}

}  // namespace memtrace
