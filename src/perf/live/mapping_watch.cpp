#include "perf/live/mapping_watch.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "os/system.h"

namespace memtrace {
namespace {

// Some hundreds of mappings: a reader that reads a large program's symbols is away for a moment.
constexpr std::size_t kMappingRingBytes = std::size_t{128} << 10U;
constexpr std::size_t kSmallestRing = std::size_t{16} << 10U;
constexpr std::chrono::milliseconds kHungUpPause{5};

// Executable mappings alone (attr.mmap without mmap_data), each of which wakes us.
perf_event_attr watch_attr(const MappingWatch::Setup& setup) {
  perf_event_attr attr = make_attr(tracking_request(setup.features),
                                   {.features = setup.features,
                                    .inherit = setup.inherit,
                                    .enable_on_exec = setup.enable_on_exec,
                                    .wakeup_bytes = 1});
  attr.comm = 0;
  attr.comm_exec = 0;
  attr.task = 0;
  return attr;
}

Result<RingBuffer> map_ring(const EventFd& event) {
  auto ring = RingBuffer::map(event, kMappingRingBytes);
  return ring.ok() ? std::move(ring) : RingBuffer::map(event, kSmallestRing);
}

}  // namespace

NewMapping NewMapping::of(const Record& record, const Mmap& mmap) {
  return {.time_ns = record.stamp.time_ns,
          .pid = mmap.pid,
          .start = mmap.start,
          .end = mmap.start + mmap.length_bytes,
          .major = mmap.major,
          .minor = mmap.minor,
          .inode = mmap.inode,
          .path = std::string(mmap.path)};
}

Result<MappingWatch> MappingWatch::open(const Setup& setup) {
  const auto cpus = online_cpus();
  if (!cpus.ok()) {
    return cpus.error();
  }
  MappingWatch watch;
  watch.attr_ = watch_attr(setup);
  watch.has_clock_ = setup.features.clock_id;
  watch.parser_.add_event(SampleLayout::of(watch.attr_), {});
  watch.interrupt_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  for (const int cpu : cpus.value()) {
    TRY(watch.open_cpu(setup, cpu));
  }
  return watch;
}

Result<> MappingWatch::open_cpu(const Setup& setup, std::int32_t cpu) {
  int owner_fd = -1;
  for (const std::int32_t tid : setup.tids) {
    auto fd = EventFd::open(
        attr_, {.tid = tid, .cpu = cpu}, "dummy", {.knows_cloexec = setup.features.cloexec});
    if (!fd.ok() && fd.error().errno_value == ESRCH) {
      continue;
    }
    if (!fd.ok()) {
      return fd.take_error();
    }
    fds_.push_back(fd.take());
    TRY(owner_fd < 0 ? add_ring(fds_.back()) : fds_.back().send_output_to(owner_fd));
    owner_fd = owner_fd < 0 ? fds_.back().fd() : owner_fd;
  }
  return kDone;
}

Result<> MappingWatch::add_ring(const EventFd& owner) {
  auto ring = map_ring(owner);
  if (!ring.ok()) {
    return ring.take_error();
  }
  rings_.push_back(ring.take());
  ring_fds_.push_back(owner.fd());
  return kDone;
}

Result<> MappingWatch::enable() const {
  for (const EventFd& fd : fds_) {
    TRY(fd.enable());
  }
  return kDone;
}

void MappingWatch::wait(std::chrono::milliseconds patience) const {
  std::vector<pollfd> waits;
  for (const int fd : ring_fds_) {
    waits.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  }
  waits.push_back({.fd = interrupt_.get(), .events = POLLIN, .revents = 0});
  ::poll(waits.data(), waits.size(), static_cast<int>(patience.count()));
  const bool interrupted = (waits.back().revents & POLLIN) != 0;
  bool hung_up = false;
  for (const pollfd& wait : waits) {
    hung_up = hung_up || (wait.revents & POLLHUP) != 0;
  }
  if (hung_up && !interrupted) {
    // The ring's own task is gone, and poll(2) returns at once from now on; others may still write.
    std::this_thread::sleep_for(kHungUpPause);
  }
}

void MappingWatch::interrupt() const {
  const std::uint64_t one = 1;
  (void)!::write(interrupt_.get(), &one, sizeof(one));
}

std::vector<NewMapping> MappingWatch::take() {
  std::vector<NewMapping> taken;
  for (RingBuffer& ring : rings_) {
    take_from(ring, taken);
  }
  return taken;
}

void MappingWatch::take_from(RingBuffer& ring, std::vector<NewMapping>& taken) {
  const bool is_whole = ring.take_records([&](std::span<const std::byte> bytes) {
    const auto record = parser_.parse(bytes);
    if (!record.ok()) {
      return;
    }
    if (const auto* lost = std::get_if<Lost>(&record.value().payload)) {
      lost_ += lost->count;
    }
    const auto* mmap = std::get_if<Mmap>(&record.value().payload);
    if (mmap != nullptr && mmap->mode != CpuMode::Kernel && mmap->path.starts_with('/')) {
      taken.push_back(NewMapping::of(record.value(), *mmap));
      taken.back().time_ns = has_clock_ ? taken.back().time_ns : monotonic_ns();
    }
  });
  lost_ += is_whole ? 0U : 1U;
}

}  // namespace memtrace
