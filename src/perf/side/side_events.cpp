#include "perf/side/side_events.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "os/system.h"

namespace memtrace {
namespace {

// Some 1,000 records a CPU, between two looks that are at most a tenth of a second apart.
constexpr std::size_t kRingBytes = std::size_t{128} << 10U;

// Of one event, on each CPU.
struct Opened {
  std::vector<EventFd> fds;
  std::vector<RingBuffer> rings;  // of the first event
  std::vector<std::uint64_t> ids;

  // Into the ring of `ring_fd`; -1: into one of its own.
  Result<> add(EventFd fd, const std::string& filter, int ring_fd) {
    auto id = fd.id();
    if (!id.ok()) {
      return id.take_error();
    }
    ids.push_back(id.value());
    TRY(fd.set_filter(filter));
    TRY(ring_fd < 0 ? add_ring(fd) : fd.send_output_to(ring_fd));
    fds.push_back(std::move(fd));
    return kDone;
  }

  Result<> add_ring(const EventFd& fd) {
    auto ring = RingBuffer::map(fd, kRingBytes);
    if (!ring.ok()) {
      return ring.take_error();
    }
    rings.push_back(ring.take());
    return kDone;
  }
};

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
  Opened opened;
  for (const Owner& owner : owners_) {
    auto fd = EventFd::open(attr, {.tid = -1, .cpu = owner.cpu}, request.info.name, kernel);
    if (!fd.ok()) {
      return fd.take_error();
    }
    TRY(opened.add(fd.take(), request.filter, owner.fd));
  }
  for (const EventFd& fd : opened.fds) {
    TRY(fd.enable());
  }
  for (std::size_t i = 0; rings_.empty() && i < owners_.size(); ++i) {
    owners_[i].fd = opened.fds[i].fd();
  }
  std::ranges::move(opened.rings, std::back_inserter(rings_));
  std::ranges::move(opened.fds, std::back_inserter(fds_));
  parser_.add_event(SampleLayout::of(attr), opened.ids);
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
