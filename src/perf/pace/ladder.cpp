#include "perf/pace/ladder.h"

namespace memtrace {
namespace {

EventRequest in_windows(const EventRequest& request, std::uint64_t share, std::uint64_t cycle_ns) {
  EventRequest one = request;
  one.info.period *= share;
  one.info.window_share = share;
  one.info.cycle_ns = cycle_ns;
  one.shared.reset();  // its samples are renamed when they come
  one.starts_disabled = true;
  return one;
}

void add_all_rungs(const EventRequest& request,
                   std::uint32_t ladder,
                   std::vector<EventRequest>& all) {
  for (std::size_t rung = 0; rung < kPeriods.size(); ++rung) {
    EventRequest& one = all.emplace_back(request);
    one.info.period = kPeriods[rung];
    one.ladder = ladder;
    one.starts_disabled = rung != kFirstRung;
  }
  EventRequest sampled = request;
  sampled.info.period = kPeriods[kWindowRung];
  sampled.ladder = ladder;
  for (const std::uint64_t share : kWindowShares) {
    all.push_back(in_windows(sampled, share, kCycleNs));
  }
}

void add_with_windows(const EventRequest& probe, std::vector<EventRequest>& all) {
  all.push_back(probe);
  for (const std::uint64_t share : kProbeShares) {
    all.push_back(in_windows(probe, share, kProbeCycleNs));
  }
}

}  // namespace

bool may_have_windows(const EventRequest& request) {
  return !request.probed_file.empty() && !is_of_uprobe_pmu(request) && !request.count_only &&
         request.info.period == 1;
}

bool may_be_sampled(const EventRequest& request) {
  return request.may_be_sampled && !request.info.is_tracking && !request.count_only &&
         !request.with_tracking && !request.on_user_code && !request.shared &&
         request.probed_file.empty() && request.info.period == 1;
}

std::vector<EventRequest> with_all_periods(const std::vector<EventRequest>& requests) {
  std::vector<EventRequest> all;
  std::uint32_t ladder = 0;
  for (const EventRequest& request : requests) {
    if (may_be_sampled(request)) {
      add_all_rungs(request, ladder++, all);
    } else if (may_have_windows(request)) {
      add_with_windows(request, all);
    } else {
      all.push_back(request);
    }
  }
  return all;
}

}  // namespace memtrace
