#include "perf/side/side_events.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "os/system.h"

namespace memtrace {
namespace {

// Some 1,000 records a CPU, between two looks that are at most a tenth of a second apart.
constexpr std::size_t kRingBytes = std::size_t{128} << 10U;

}  // namespace

SideEvents SideEvents::open(const std::vector<EventRequest>& requests) {
  SideEvents events(requests.size());
  const auto cpus = online_cpus();
  const auto features = probe_features();
  if (!cpus.ok() || !features.ok()) {
    return events;
  }
  for (const int cpu : cpus.value()) {
    events.owners_.push_back({.cpu = cpu});
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    events.is_open_[i] = events.open_event(requests[i], features.value(), i).ok();
  }
  return events;
}

Result<> SideEvents::open_event(const EventRequest& request,
                                const AttrFeatures& features,
                                std::size_t event) {
  const perf_event_attr attr = make_attr(request, {.features = features});
  const KernelInterface kernel{.knows_cloexec = features.cloexec};
  const bool needs_rings = rings_.empty();
  std::vector<EventFd> opened;
  std::vector<RingBuffer> rings;
  std::vector<std::uint64_t> ids;
  for (const Owner& owner : owners_) {
    auto fd = EventFd::open(attr, {.tid = -1, .cpu = owner.cpu}, request.info.name, kernel);
    if (!fd.ok()) {
      return fd.take_error();
    }
    auto id = fd.value().id();
    if (!id.ok()) {
      return id.take_error();
    }
    ids.push_back(id.value());
    TRY(fd.value().set_filter(request.filter));
    if (needs_rings) {
      auto ring = RingBuffer::map(fd.value(), kRingBytes);
      if (!ring.ok()) {
        return ring.take_error();
      }
      rings.push_back(ring.take());
    } else {
      TRY(fd.value().send_output_to(owner.fd));
    }
    opened.push_back(fd.take());
  }
  for (const EventFd& fd : opened) {
    TRY(fd.enable());
  }
  for (std::size_t i = 0; needs_rings && i < owners_.size(); ++i) {
    owners_[i].fd = opened[i].fd();
  }
  std::ranges::move(rings, std::back_inserter(rings_));
  std::ranges::move(opened, std::back_inserter(fds_));
  parser_.add_event(SampleLayout::of(attr), ids);
  numbers_.push_back(event);
  return kDone;
}

SideEvents::Taken SideEvents::take() {
  Taken taken;
  for (RingBuffer& ring : rings_) {
    drain(ring, taken);
  }
  std::ranges::stable_sort(taken.samples, {}, &SideSample::time_ns);
  return taken;
}

void SideEvents::drain(RingBuffer& ring, Taken& taken) const {
  const bool is_whole = ring.take_records([&](std::span<const std::byte> bytes) {
    const auto record = parser_.parse(bytes);
    const auto* sample = record.ok() ? std::get_if<Sample>(&record.value().payload) : nullptr;
    if (sample != nullptr && sample->event < numbers_.size()) {
      taken.samples.push_back({.time_ns = record.value().stamp.time_ns,
                               .event = numbers_[sample->event],
                               .raw = {sample->raw.begin(), sample->raw.end()}});
    }
    taken.lost = taken.lost || !record.ok() || std::holds_alternative<Lost>(record.value().payload);
  });
  taken.lost = taken.lost || !is_whole;
}

}  // namespace memtrace
