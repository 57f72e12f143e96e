#include "perf/event/event_set.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/text.h"
#include "base/units.h"
#include "os/system.h"

namespace memtrace {
namespace {

// The kernel wakes the reader of a ring at this many bytes.
constexpr std::size_t kWakeupBytes = std::size_t{16} << 20U;
constexpr std::size_t kNoOwner = ~std::size_t{0};

// CPUs x tasks x events descriptors: as many as we may have.
void raise_open_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return;
  }
  const rlimit wanted{.rlim_cur = 1U << 20U, .rlim_max = 1U << 20U};
  if (limit.rlim_max >= wanted.rlim_max || ::setrlimit(RLIMIT_NOFILE, &wanted) != 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

// Nothing of it has been opened yet, and it is the event's own fault.
bool may_be_left_out(const OpenedEvent& event, const Error& error) {
  constexpr auto kOthersFault = std::to_array<int>({EMFILE, ENFILE, ENOMEM, ESRCH});
  return event.request.optional && event.ids.empty() &&
         std::find(kOthersFault.begin(), kOthersFault.end(), error.errno_value) ==
             kOthersFault.end();
}

}  // namespace

Result<EventSet> EventSet::open(const EventSetup& setup) {
  raise_open_file_limit();
  auto cpus = online_cpus();
  auto features = probe_features(*setup.calls);
  if (!cpus.ok() || !features.ok()) {
    return cpus.ok() ? features.take_error() : cpus.take_error();
  }
  auto ring_bytes = choose_ring_bytes(setup, cpus.value().size());
  if (!ring_bytes.ok()) {
    return ring_bytes.take_error();
  }
  EventSet set(setup, features.value(), ring_bytes.value());
  auto opened = set.open_cpus(setup, cpus.value());
  // All anew, so that each CPU has as large a ring.
  while (set.ring_refusal_ != 0 && set.ring_bytes_ > kSmallestRing) {
    const int refusal = set.ring_refusal_;
    set = EventSet(setup, features.value(), set.ring_bytes_ / 2);
    set.note_smaller_rings(refusal);
    opened = set.open_cpus(setup, cpus.value());
  }
  if (!opened.ok()) {
    return opened.take_error();
  }
  return set;
}

EventSet::EventSet(const EventSetup& setup, const AttrFeatures& features, std::size_t ring_bytes)
    : features_(features),
      kernel_{.calls = setup.calls, .knows_cloexec = features.cloexec},
      context_{
          .call_graph = setup.call_graph,
          .features = features,
          .inherit = setup.inherit,
          .enable_on_exec = setup.enable_on_exec,
          .data_mappings = setup.data_mappings,
          .wakeup_bytes = static_cast<std::uint32_t>(std::min(ring_bytes / 4, kWakeupBytes)),
      },
      ring_bytes_(ring_bytes),
      notes_(setup.notes),
      tids_(setup.tids) {
  std::ranges::copy(feature_notes(features_), std::back_inserter(notes_));
  spare_small_rings(setup);
  add_events(setup);
  watch_user_mode_only();
}

Result<> EventSet::open_cpus(const EventSetup& setup, const std::vector<int>& cpus) {
  for (const int cpu : cpus) {
    TRY(open_cpu(setup, cpu));
    ring_cpus_.resize(rings_.size(), cpu);
  }
  if (rings_.empty()) {
    return Error{"every process to be watched has ended", ESRCH, ""};
  }
  return kDone;
}

void EventSet::add_events(const EventSetup& setup) {
  const EventRequest tracking = tracking_request(features_);
  events_.push_back({tracking, make_attr(tracking, context_), {}});
  for (const EventRequest& request : setup.events) {
    events_.push_back({request, make_attr(request, context_), {}});
  }
  mark_shared(events_);
}

Result<> EventSet::open_cpu(const EventSetup& setup, std::int32_t cpu) {
  std::size_t owner = kNoOwner;
  for (const std::int32_t tid : setup.tids) {
    auto opened = open_task({.tid = tid, .cpu = cpu}, owner);
    // A thread may end between the listing and here; others go on.
    const bool gone = !opened.ok() && opened.error().errno_value == ESRCH && setup.tids.size() > 1;
    if (!opened.ok() && !gone) {
      return opened;
    }
  }
  return kDone;
}

Result<> EventSet::open_task(EventFd::Place place, std::size_t& owner) {
  for (auto event = events_.begin(); event != events_.end();) {
    if (event->is_opened_by_other) {
      ++event;
      continue;
    }
    auto fd = EventFd::open(event->attr, place, event->request.info.name, kernel_);
    if (fd.ok()) {
      TRY(take_event(*event, fd.take(), owner));
      ++event;
    } else if (may_be_left_out(*event, fd.error()) && events_.size() > 2) {
      left_out_.push_back(event->request.info.name + " (" + std::strerror(fd.error().errno_value) +
                          ")");
      event = events_.erase(event);
    } else {
      return fd.take_error();
    }
  }
  return kDone;
}

Result<> EventSet::take_event(OpenedEvent& event, EventFd fd, std::size_t& owner) {
  auto id = fd.id();
  if (!id.ok()) {
    return id.take_error();
  }
  (event.request.shared ? event.kernel_ids : event.ids).push_back(id.value());
  fds_.push_back({.fd = std::move(fd),
                  .tracking = event.request.info.is_tracking || event.request.with_tracking,
                  .on_user_code = event.request.on_user_code});
  TRY(attach_ring(fds_.size() - 1, owner));
  return set_filter(event, fds_.back().fd);
}

Result<> EventSet::set_filter(const OpenedEvent& event, const EventFd& fd) const {
  // A probe by the PMU has no fields that the kernel could test: decode/probe_samples.h does it.
  if (event.request.pmu_probe) {
    return kDone;
  }
  const std::string filter =
      event.request.shared ? shared_filter(event, events_) : event.request.filter;
  // A recording of the whole machine would include memtrace's own faults and calls. The copies of
  // their stacks take memory whose pages are touched for the first time, at 8 KiB a fault twice as
  // much as these pages hold.
  const bool feeds_itself = tids_ == std::vector<std::int32_t>{-1} &&
                            event.request.type == kTypeTracepoint &&
                            event.attr.sample_stack_user > kRepairStackBytes;
  return feeds_itself ? fd.set_filter_for_others(filter) : fd.set_filter(filter);
}

// The first event of a CPU gets the ring, all others write into it.
Result<> EventSet::attach_ring(std::size_t index, std::size_t& owner) {
  const EventFd& event = fds_[index].fd;
  if (owner != kNoOwner) {
    return event.send_output_to(fds_[owner].fd.fd());
  }
  auto ring = RingBuffer::map(event, ring_bytes_);
  if (!ring.ok()) {
    const int error = ring.error().errno_value;
    ring_refusal_ = error == EPERM || error == ENOMEM ? error : 0;
    return ring.take_error();
  }
  owner = index;
  rings_.push_back(ring.take());
  ring_fds_.push_back(event.fd());
  return kDone;
}

Result<> EventSet::enable_tracking() {
  for (const OpenedFd& opened : fds_) {
    if (opened.tracking) {
      TRY(opened.fd.enable());
    }
  }
  return kDone;
}

Result<> EventSet::enable_events(bool enabled_by_exec) {
  for (const OpenedFd& opened : fds_) {
    if (!opened.tracking && !enabled_by_exec) {
      TRY(opened.fd.enable());
    }
  }
  return kDone;
}

}  // namespace memtrace
