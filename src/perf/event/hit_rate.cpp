#include "perf/event/hit_rate.h"

#include <set>
#include <thread>
#include <vector>

#include "os/system.h"
#include "perf/event/event_fd.h"

namespace memtrace {
namespace {

// A counter: no period, no samples, nothing that an old kernel could lack.
perf_event_attr counter_attr(const EventRequest& request) {
  perf_event_attr attr = make_attr(request, {.call_graph = {.kernel = false, .user = false}});
  attr.sample_period = 0;
  attr.sample_type = 0;
  attr.read_format = 0;
  attr.sample_id_all = 0;
  attr.watermark = 0;
  attr.wakeup_watermark = 0;
  attr.use_clockid = 0;
  attr.clockid = 0;
  return attr;
}

Result<> open_on(std::span<const int> cpus,
                 const EventRequest& event,
                 const PerfCalls& calls,
                 std::vector<EventFd>& counters) {
  const perf_event_attr attr = counter_attr(event);
  for (const int cpu : cpus) {
    auto counter = EventFd::open(attr, {.tid = -1, .cpu = cpu}, event.info.name, {&calls});
    if (!counter.ok()) {
      return counter.take_error();
    }
    counters.push_back(counter.take());
  }
  return kDone;
}

Result<std::vector<EventFd>> open_counters(std::span<const EventRequest> events,
                                           const PerfCalls& calls) {
  const auto cpus = online_cpus();
  if (!cpus.ok()) {
    return cpus.error();
  }
  std::vector<EventFd> counters;
  std::set<std::uint64_t> shared;  // events of the kernel's: a hit of one is a hit of one probe
  for (const EventRequest& event : events) {
    if (event.shared && !shared.insert(event.shared->tracepoint_id).second) {
      continue;
    }
    TRY(open_on(cpus.value(), event, calls, counters));
  }
  return counters;
}

}  // namespace

std::uint64_t HitRate::per_second() const {
  const double seconds = std::chrono::duration<double>(span).count();
  return seconds > 0 ? static_cast<std::uint64_t>(static_cast<double>(hits) / seconds) : 0;
}

Result<HitRate> count_hits(std::span<const EventRequest> events,
                           std::chrono::nanoseconds span,
                           const PerfCalls& calls) {
  const auto counters = open_counters(events, calls);
  if (!counters.ok()) {
    return counters.error();
  }
  const auto start = std::chrono::steady_clock::now();
  for (const EventFd& counter : counters.value()) {
    TRY(counter.enable());
  }
  std::this_thread::sleep_for(span);
  for (const EventFd& counter : counters.value()) {
    TRY(counter.disable());
  }
  HitRate rate{.span = std::chrono::steady_clock::now() - start};
  for (const EventFd& counter : counters.value()) {
    std::uint64_t hits = 0;
    if (calls.read(counter.fd(), {&hits, 1}) == sizeof(hits)) {
      rate.hits += hits;
    }
  }
  return rate;
}

}  // namespace memtrace
