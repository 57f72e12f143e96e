#include "perf/event/event_set.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

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

constexpr std::size_t kNamesInNote = 8;

// The kernel takes 80 ms to register a user probe for its first event (tried on 6.18), and the
// probes that are there already cost the programs their traps until the last one is registered. So
// events without a breakpoint register all of them first. They are closed when the other events are
// open. If one cannot be opened, the probe's own event registers it.
std::vector<EventFd> register_probes(const std::vector<OpenedEvent>& events,
                                     const KernelInterface& kernel) {
  std::vector<EventFd> registered;
  for (const OpenedEvent& event : events) {
    if (event.request.probed_file.empty() || event.is_opened_by_other) {
      continue;
    }
    auto fd = EventFd::open_registering(event.attr, event.request.info.name, kernel);
    if (fd.ok()) {
      registered.push_back(fd.take());
    }
  }
  return registered;
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
      context_(setup.attrs),
      ring_bytes_(ring_bytes),
      notes_(setup.notes),
      tids_(setup.tids) {
  context_.features = features;
  context_.wakeup_bytes = static_cast<std::uint32_t>(std::min(ring_bytes / 4, kWakeupBytes));
  std::ranges::copy(feature_notes(features_), std::back_inserter(notes_));
  spare_small_rings(setup);
  add_events(setup);
  watch_user_mode_only();
}

Result<> EventSet::open_cpus(const EventSetup& setup, const std::vector<int>& cpus) {
  const std::vector<EventFd> registered = register_probes(events_, kernel_);
  std::vector<std::size_t> owners(cpus.size(), kNoOwner);
  TRY(open_part(setup, cpus, Part::WithoutProbes, owners));
  TRY(open_part(setup, cpus, Part::Probes, owners));
  if (rings_.empty()) {
    return Error{"every process to be watched has ended", ESRCH, ""};
  }
  return kDone;
}

Result<> EventSet::open_part(const EventSetup& setup,
                             const std::vector<int>& cpus,
                             Part part,
                             std::vector<std::size_t>& owners) {
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    TRY(open_cpu(setup, cpus[i], part, owners[i]));
    ring_cpus_.resize(rings_.size(), cpus[i]);
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
  mark_windows(events_);
}

// User probes are opened last, because they cost the programs traps from then on. Mapping the rings
// may take a second.
Result<> EventSet::open_cpu(const EventSetup& setup,
                            std::int32_t cpu,
                            Part part,
                            std::size_t& owner) {
  for (const std::int32_t tid : setup.tids) {
    auto opened = open_task({.tid = tid, .cpu = cpu}, part, owner);
    // A thread may end between the listing and here; others go on.
    const bool gone = !opened.ok() && opened.error().errno_value == ESRCH && setup.tids.size() > 1;
    if (!opened.ok() && !gone) {
      return opened;
    }
  }
  const bool of_machine = tids_ == std::vector<std::int32_t>{-1};
  return of_machine && part == Part::Probes ? count_own(cpu) : Result<>(kDone);
}

// A report of the whole machine leaves out what memtrace does itself. A sample names its process; a
// count does not, so memtrace counts its own part and subtracts it. Threads that start later
// inherit these events.
Result<> EventSet::count_own(std::int32_t cpu) {
  AttrContext context = context_;
  context.inherit = true;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const EventRequest& request = events_[i].request;
    if (!request.count_only || request.info.is_of_anybody) {
      continue;
    }
    const EventFd::Place place{.tid = ::getpid(), .cpu = cpu};
    auto fd = EventFd::open(make_attr(request, context), place, request.info.name, kernel_);
    if (!fd.ok()) {
      return fd.take_error();
    }
    TRY(fd.value().set_filter(request.filter));
    fds_.push_back({.fd = fd.take(),
                    .counts = OpenedFd::Counts{.event = static_cast<std::uint32_t>(i),
                                               .cpu = static_cast<std::uint32_t>(cpu),
                                               .is_own = true}});
  }
  return kDone;
}

Result<> EventSet::open_task(EventFd::Place place, Part part, std::size_t& owner) {
  for (auto event = events_.begin(); event != events_.end();) {
    const bool is_probe = !event->request.probed_file.empty();
    if (event->is_opened_by_other || is_probe != (part == Part::Probes)) {
      ++event;
      continue;
    }
    auto fd = EventFd::open(event->attr, place, event->request.info.name, kernel_);
    if (!fd.ok() && may_be_left_out(*event, fd.error()) && events_.size() > 2) {
      event = leave_out(event, fd.error());
      continue;
    }
    if (!fd.ok()) {
      return fd.take_error();
    }
    TRY(take_event(*event, fd.take(), place, owner));
    ++event;
  }
  return kDone;
}

// Descriptors of events behind it may be open already.
std::vector<OpenedEvent>::iterator EventSet::leave_out(std::vector<OpenedEvent>::iterator event,
                                                       const Error& why) {
  left_out_.push_back(event->request.info.name + " (" + std::strerror(why.errno_value) + ")");
  const auto index = static_cast<std::uint32_t>(event - events_.begin());
  for (OpenedFd& opened : fds_) {
    opened.event -= opened.event > index ? 1 : 0;
    if (opened.counts && opened.counts->event > index) {
      --opened.counts->event;
    }
  }
  return events_.erase(event);
}

Result<> EventSet::take_event(OpenedEvent& event,
                              EventFd fd,
                              EventFd::Place place,
                              std::size_t& owner) {
  auto id = fd.id();
  if (!id.ok()) {
    return id.take_error();
  }
  (event.request.shared ? event.kernel_ids : event.ids).push_back(id.value());
  fds_.push_back({.fd = std::move(fd),
                  .tracking = event.request.info.is_tracking || event.request.with_tracking,
                  .of_user_probe = !event.request.probed_file.empty(),
                  .event = static_cast<std::uint32_t>(&event - events_.data()),
                  .on_ladder = event.request.ladder.has_value()});
  if (event.request.count_only) {
    fds_.back().counts = {.event = static_cast<std::uint32_t>(&event - events_.data()),
                          .cpu = static_cast<std::uint32_t>(place.cpu)};
  }
  TRY(attach_ring(fds_.size() - 1, owner));
  return set_filter(event, fds_.back().fd);
}

Result<> EventSet::set_filter(const OpenedEvent& event, const EventFd& fd) const {
  if (event.request.pmu_probe) {
    return kDone;
  }
  const std::string filter = filter_of(event, events_);
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
    TRY(opened.tracking ? opened.fd.enable() : Result<>(kDone));
  }
  return kDone;
}

Result<> EventSet::enable_events(bool enabled_by_exec) {
  if (enabled_by_exec) {
    return kDone;
  }
  for (const OpenedFd& opened : fds_) {
    TRY(opened.tracking || opened.on_ladder ? Result<>(kDone) : opened.fd.enable());
  }
  return kDone;
}

void EventSet::note_smaller_rings(int refusal) {
  ring_note_ = fmt::format(
      "rings are only {} for each CPU ({}): bursts may be lost",
      print_bytes(ring_bytes_),
      refusal == EPERM ? "the mlock limit forbids more; raise kernel.perf_event_mlock_kb or run as "
                         "root"
                       : "there is no memory for more");
}

// Without CAP_SYS_NICE our reader threads have no priority (os/this_thread.h). If the kernel wakes
// one on the CPU that fills its ring, it waits for the next tick: up to 4 ms at HZ=250, in which a
// task makes 700 page faults with 8 KiB of its stack each.
void EventSet::spare_small_rings(const EventSetup& setup) {
  CallGraph& graph = context_.call_graph;
  const bool any_to_spare = std::ranges::any_of(setup.events, [&](const EventRequest& request) {
    return !request.on_user_code && call_graph_of(request, graph).stack_bytes != 0;
  });
  if (!features_.user_stack || !graph.skip_kernel_work || ring_bytes_ >= kWholeStackRing ||
      !any_to_spare) {
    return;
  }
  const std::string rings = "rings of " + print_bytes(ring_bytes_);
  if (ring_bytes_ < kSmallestStackRing) {
    graph.max_stack_bytes_except_probes = 0;
    notes_.push_back("user stacks, except those of probes, follow frame pointers: " + rings +
                     " have no room for copies (--call-graph dwarf copies them anyway)");
    return;
  }
  graph.max_stack_bytes_except_probes = kDefaultStackBytes / 2;
  notes_.push_back("of user stacks, except those of probes, only " +
                   print_bytes(graph.max_stack_bytes_except_probes) + " are copied: " + rings +
                   " have no room for more (--call-graph dwarf copies more anyway)");
}

// A user who may not watch the kernel (kernel.perf_event_paranoid 2, no CAP_PERFMON) may watch his
// own programs in user mode, by software events: perf_event_open(2), exclude_kernel.
void EventSet::watch_user_mode_only() {
  const auto is_software = [](const OpenedEvent& event) {
    return event.request.type == kTypeSoftware;
  };
  const auto own = EventFd::open(events_.front().attr, {.tid = 0}, "dummy", kernel_);
  const bool refused =
      !own.ok() && (own.error().errno_value == EACCES || own.error().errno_value == EPERM);
  if (!refused || !std::all_of(events_.begin(), events_.end(), is_software)) {
    return;
  }
  for (OpenedEvent& event : events_) {
    event.attr.exclude_kernel = 1;
    event.attr.exclude_callchain_kernel = 1;
  }
  notes_.emplace_back(
      "only user mode was watched: events in the kernel, such as page faults in a system call "
      "that fills fresh memory, are not counted, and stacks have no kernel part; watching the "
      "kernel needs CAP_PERFMON, or kernel.perf_event_paranoid of 1 or less");
}

std::vector<std::string> EventSet::notes() const {
  std::vector<std::string> notes = notes_;
  if (!ring_note_.empty()) {
    notes.push_back(ring_note_);
  }
  if (!left_out_.empty()) {
    const std::size_t shown = std::min(left_out_.size(), kNamesInNote);
    notes.push_back(
        "not recorded, because they cannot be opened: " +
        join(std::span(left_out_).first(shown), ", ") +
        (shown == left_out_.size() ? "" : fmt::format(" and {} others", left_out_.size() - shown)));
  }
  return notes;
}

Result<> AddedEvents::enable() const {
  for (const OpenedFd& opened : fds) {
    TRY(opened.fd.enable());
  }
  return kDone;
}

Result<AddedEvents> EventSet::open_added(const std::vector<EventRequest>& requests) const {
  const bool whole_machine = tids_ == std::vector<std::int32_t>{-1};
  const bool inherits = context_.inherit && std::ranges::none_of(requests, is_of_uprobe_pmu);
  AttrContext context = context_;
  context.inherit = false;
  context.enable_on_exec = false;
  AddedEvents late;
  for (const EventRequest& request : requests) {
    OpenedEvent& event =
        late.events.emplace_back(OpenedEvent{request, make_attr(request, context), {}});
    event.for_all_tasks = inherits && !whole_machine;
  }
  mark_shared(late.events);
  for (std::size_t ring = 0; ring < rings_.size(); ++ring) {
    TRY(inherits || whole_machine ? open_added_on(ring, {.tid = -1, .cpu = ring_cpus_[ring]}, late)
                                  : open_added_for_tasks(ring, late));
  }
  return late;
}

Result<> EventSet::open_added_for_tasks(std::size_t ring, AddedEvents& late) const {
  for (const std::int32_t tid : tids_) {
    const auto opened = open_added_on(ring, {.tid = tid, .cpu = ring_cpus_[ring]}, late);
    if (!opened.ok() && opened.error().errno_value != ESRCH) {  // it has ended
      return opened.error();
    }
  }
  return kDone;
}

Result<> EventSet::open_added_on(std::size_t ring, EventFd::Place place, AddedEvents& late) const {
  for (OpenedEvent& event : late.events) {
    TRY(event.is_opened_by_other ? Result<>(kDone) : open_added_event(event, ring, place, late));
  }
  return kDone;
}

Result<> EventSet::open_added_event(OpenedEvent& event,
                                    std::size_t ring,
                                    EventFd::Place place,
                                    AddedEvents& late) const {
  auto fd = EventFd::open(event.attr, place, event.request.info.name, kernel_);
  if (!fd.ok()) {
    return fd.take_error();
  }
  const auto id = fd.value().id();
  if (!id.ok()) {
    return id.error();
  }
  (event.request.shared ? event.kernel_ids : event.ids).push_back(id.value());
  TRY(fd.value().send_output_to(ring_fds_[ring]));
  const std::string filter = filter_of(event, late.events);
  // Recording memtrace's own calls would cause more calls.
  TRY(place.tid < 0 ? fd.value().set_filter_for_others(filter) : fd.value().set_filter(filter));
  late.fds.push_back({.fd = fd.take(), .of_user_probe = !event.request.probed_file.empty()});
  return kDone;
}

void EventSet::adopt(AddedEvents late) {
  std::move(late.events.begin(), late.events.end(), std::back_inserter(events_));
  std::move(late.fds.begin(), late.fds.end(), std::back_inserter(fds_));
}

void EventSet::disable() {
  for (const OpenedFd& opened : fds_) {
    (void)opened.fd.disable();  // fails only for an event that is already in an error state
  }
  for (const OpenedFd& opened : fds_) {
    lost_ += opened.fd.read_lost();
  }
}

std::vector<OpenedFd> EventSet::take_probes() {
  const auto probes = std::stable_partition(
      fds_.begin(), fds_.end(), [](const OpenedFd& opened) { return !opened.of_user_probe; });
  std::vector<OpenedFd> taken(std::make_move_iterator(probes), std::make_move_iterator(fds_.end()));
  fds_.erase(probes, fds_.end());
  for (const OpenedFd& opened : taken) {
    (void)opened.fd.disable();
    lost_ += opened.fd.read_lost();
  }
  return taken;
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
  std::stable_partition(
      taken.begin(), taken.end(), [](const OpenedFd& opened) { return !opened.of_user_probe; });
  return taken;
}

}  // namespace memtrace
