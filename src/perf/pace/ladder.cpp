#include "perf/pace/ladder.h"

namespace memtrace {

bool may_be_sampled(const EventRequest& request) {
  return request.may_be_sampled && !request.info.is_tracking && !request.count_only &&
         !request.with_tracking && !request.on_user_code && !request.shared &&
         request.probed_file.empty() && request.info.period == 1;
}

std::vector<EventRequest> with_all_periods(const std::vector<EventRequest>& requests) {
  std::vector<EventRequest> all;
  std::uint32_t ladder = 0;
  for (const EventRequest& request : requests) {
    if (!may_be_sampled(request)) {
      all.push_back(request);
      continue;
    }
    for (std::size_t rung = 0; rung < kPeriods.size(); ++rung) {
      EventRequest& one = all.emplace_back(request);
      one.info.period = kPeriods[rung];
      one.ladder = ladder;
      one.starts_disabled = rung != kFirstRung;
    }
    for (const std::uint64_t share : kWindowShares) {
      EventRequest& one = all.emplace_back(request);
      one.info.period = kPeriods[kWindowRung] * share;
      one.info.window_share = share;
      one.info.cycle_ns = kCycleNs;
      one.ladder = ladder;
      one.starts_disabled = true;
    }
    ++ladder;
  }
  return all;
}

}  // namespace memtrace
