#include "perf/pace/probe_opener.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "perf/pace/ladder.h"

namespace memtrace {
namespace {

constexpr int kNoRing = -1;

}  // namespace

ProbeOpener::ProbeOpener(const EventSet& events, PassingIds& ids)
    : ids_(ids),
      kernel_(events.kernel()),
      ring_fds_(events.ring_fds()),
      ring_cpus_(events.ring_cpus()) {
  const auto& all = events.events();
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const OpenedEvent& event = all[i];
    if (event.request.is_of_windows() || !may_have_windows(event.request)) {
      continue;
    }
    events_.push_back(i);
    if (event.is_opened_by_other) {
      continue;
    }
    probes_.push_back({.event = i,
                       .attr = event.attr,
                       .name = event.request.info.name,
                       .filter = filter_of(event, all)});
    probes_.back().attr.disabled = 1;
    probes_.back().attr.enable_on_exec = 0;
  }
}

Result<std::vector<OpenedFd>> ProbeOpener::hold() const {
  std::vector<OpenedFd> holders;
  for (const Probe& probe : probes_) {
    auto fd = EventFd::open_registering(probe.attr, probe.name, kernel_);
    if (!fd.ok()) {
      return fd.take_error();
    }
    holders.push_back({.fd = fd.take(), .of_user_probe = true, .event = probe.event});
  }
  return holders;
}

Result<std::vector<OpenedFd>> ProbeOpener::open(std::span<const std::int32_t> tids) const {
  std::vector<OpenedFd> opened;
  for (const Probe& probe : probes_) {
    TRY(open_for(probe, tids, true, opened));
  }
  for (const OpenedFd& one : opened) {
    TRY(one.fd.enable());
  }
  return opened;
}

Result<std::vector<OpenedFd>> ProbeOpener::open_counting(std::uint32_t event,
                                                         std::span<const std::int32_t> tids) const {
  constexpr std::uint64_t kNoSample = std::uint64_t{1} << 40U;
  std::vector<OpenedFd> opened;
  const auto found = std::ranges::find(probes_, event, &Probe::event);
  if (found != probes_.end()) {
    Probe counting = *found;
    counting.attr.sample_period = kNoSample;
    TRY(open_for(counting, tids, false, opened));
  }
  for (const OpenedFd& one : opened) {
    TRY(one.fd.enable());
  }
  return opened;
}

Result<> ProbeOpener::open_for(const Probe& probe,
                               std::span<const std::int32_t> tids,
                               bool is_recorded,
                               std::vector<OpenedFd>& opened) const {
  for (const std::int32_t tid : tids) {
    const auto for_task = open_for_task(probe, tid, is_recorded, opened);
    if (!for_task.ok() && for_task.error().errno_value != ESRCH) {
      return for_task.error();
    }
  }
  return kDone;
}

// Error: ESRCH when the task has ended, too.
Result<> ProbeOpener::open_for_task(const Probe& probe,
                                    std::int32_t tid,
                                    bool is_recorded,
                                    std::vector<OpenedFd>& opened) const {
  for (std::size_t ring = 0; ring < ring_fds_.size(); ++ring) {
    const int ring_fd = is_recorded ? ring_fds_[ring] : kNoRing;
    auto fd = open_one(probe, {.tid = tid, .cpu = ring_cpus_[ring]}, ring_fd);
    if (!fd.ok()) {
      return fd.take_error();
    }
    opened.push_back({.fd = fd.take(), .of_user_probe = true, .event = probe.event});
  }
  return kDone;
}

Result<EventFd> ProbeOpener::open_one(const Probe& probe, EventFd::Place place, int ring_fd) const {
  auto fd = EventFd::open(probe.attr, place, probe.name, kernel_);
  if (!fd.ok()) {
    return fd;
  }
  const auto id = fd.value().id();
  if (!id.ok()) {
    return id.error();
  }
  ids_.set(id.value(), probe.event);
  TRY(ring_fd == kNoRing ? Result<>(kDone) : fd.value().send_output_to(ring_fd));
  TRY(place.tid < 0 ? fd.value().set_filter_for_others(probe.filter)
                    : fd.value().set_filter(probe.filter));
  return fd;
}

}  // namespace memtrace
