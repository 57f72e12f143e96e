// All events of a run, opened for each target on each CPU, and one ring for each CPU that they all
// write into.
//
//            cpu 0                      cpu 1
//   task A   tracking -> ring 0         tracking -> ring 1
//            kmalloc  -> ring 0         kmalloc  -> ring 1
//   task B   tracking -> ring 0         ...
//
// perf refuses to map a ring for an inherited event that follows a task over all CPUs
// (perf_event_open(2)): so there is one descriptor for each task, CPU and event.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/event/event_attr.h"
#include "perf/event/event_fd.h"
#include "perf/event/event_setup.h"
#include "perf/event/ring_buffer.h"
#include "perf/event/ring_size.h"
#include "perf/record/record_parser.h"

namespace memtrace {

// One kind of event: what was asked for, and the ids that the kernel gave to its descriptors.
struct OpenedEvent {
  EventRequest request;
  perf_event_attr attr{};
  std::vector<std::uint64_t> ids;
  // For a shared event (SharedProbe) `ids` is made up. The first of the probes that share it has
  // these ids, which are in the samples of all.
  std::vector<std::uint64_t> kernel_ids = {};
  bool is_opened_by_other = false;
  bool for_all_tasks = false;  // though a target was given: samples of others must be left out
};

// Finds out which of the events share one of the kernel's: perf/event/shared_probe.cpp.
void mark_shared(std::span<OpenedEvent> events);
// Gives samples of windows (EventRequest::is_of_windows) an id that no descriptor has.
void mark_windows(std::span<OpenedEvent> events);
// What the kernel shall test for all that share this one's event. Empty: nothing.
std::string shared_filter(const OpenedEvent& first, std::span<const OpenedEvent> events);
// The same for any event; "" where the kernel tests nothing.
std::string filter_of(const OpenedEvent& event, std::span<const OpenedEvent> events);
// What a probe with this filter adds to it.
std::size_t shared_filter_part_bytes(const SharedProbe& shared, const std::string& filter);
// In the order of Recording::events, after those that the parser knows.
void add_to_parser(std::span<const OpenedEvent> events, RecordParser& parser);

// One descriptor of an event.
struct OpenedFd {
  // Of an event that is only counted.
  struct Counts {
    std::uint32_t event = 0;  // index into EventSet::events()
    std::uint32_t cpu = 0;
    bool is_own = false;  // what memtrace does itself: not to be counted
  };

  EventFd fd;
  bool tracking = false;
  bool of_user_probe = false;
  std::optional<Counts> counts = {};
  std::uint32_t event = 0;  // index into EventSet::events()
  bool on_ladder = false;   // EventRequest::ladder: enabled by perf/pace/pacer.h
};

// Events that were opened beside those of a set, to become its own.
struct AddedEvents {
  std::vector<OpenedEvent> events;
  std::vector<OpenedFd> fds;

  Result<> enable() const;
};

class EventSet {
 public:
  static Result<EventSet> open(const EventSetup& setup);

  // The tracking event first.
  const std::vector<OpenedEvent>& events() const { return events_; }

  std::vector<RingBuffer>& rings() { return rings_; }

  const std::vector<RingBuffer>& rings() const { return rings_; }

  // Those that are not closed.
  std::span<const OpenedFd> fds() const { return fds_; }

  // To wait for a ring's data with poll(2), in the order of rings().
  const std::vector<int>& ring_fds() const { return ring_fds_; }

  // In the same order.
  const std::vector<int>& ring_cpus() const { return ring_cpus_; }

  const AttrFeatures& features() const { return features_; }

  // For more events of the same kind.
  const KernelInterface& kernel() const { return kernel_; }

  // mmap, comm, fork and exit records first, so that the state of /proc can be read in between.
  Result<> enable_tracking();
  // All others, but those that exec enables.
  Result<> enable_events(bool enabled_by_exec);

  void disable();

  // After disable(): all descriptors that reading the rings can do without, those of probes last.
  std::vector<OpenedFd> take_closable();

  // The descriptors of user probes, disabled. Their breakpoints stay until they are closed.
  std::vector<OpenedFd> take_probes();

  // Records that found their ring full up to disable(), as counted by the kernel; 0 where it does
  // not count them.
  std::uint64_t lost() const { return lost_; }

  // Sentences: rings that had to be smaller than wanted, events that could not be had.
  std::vector<std::string> notes() const;

  // More events into the same rings, not enabled yet. May be called by another thread: it changes
  // nothing here. Where children are followed, or the whole machine, the events are for all tasks:
  // the tasks to be watched are many and change. Those of the uprobe PMU are for the tasks that the
  // set was opened for.
  Result<AddedEvents> open_added(const std::vector<EventRequest>& requests) const;
  void adopt(AddedEvents late);

 private:
  // Of events().
  enum class Part : std::uint8_t { WithoutProbes, Probes };

  EventSet(const EventSetup& setup, const AttrFeatures& features, std::size_t ring_bytes);

  void spare_small_rings(const EventSetup& setup);
  void note_smaller_rings(int refusal);
  void add_events(const EventSetup& setup);
  Result<> open_cpus(const EventSetup& setup, const std::vector<int>& cpus);
  // `owners`: of each CPU's ring, as indices into fds_.
  Result<> open_part(const EventSetup& setup,
                     const std::vector<int>& cpus,
                     Part part,
                     std::vector<std::size_t>& owners);
  Result<> open_cpu(const EventSetup& setup, std::int32_t cpu, Part part, std::size_t& owner);
  Result<> open_task(EventFd::Place place, Part part, std::size_t& owner);
  std::vector<OpenedEvent>::iterator leave_out(std::vector<OpenedEvent>::iterator event,
                                               const Error& why);
  Result<> take_event(OpenedEvent& event, EventFd fd, EventFd::Place place, std::size_t& owner);
  Result<> count_own(std::int32_t cpu);
  Result<> set_filter(const OpenedEvent& event, const EventFd& fd) const;
  void watch_user_mode_only();
  Result<> attach_ring(std::size_t index, std::size_t& owner);
  Result<> open_added_for_tasks(std::size_t ring, AddedEvents& late) const;
  Result<> open_added_on(std::size_t ring, EventFd::Place place, AddedEvents& late) const;
  Result<> open_added_event(OpenedEvent& event,
                            std::size_t ring,
                            EventFd::Place place,
                            AddedEvents& late) const;

  AttrFeatures features_;
  KernelInterface kernel_;
  AttrContext context_;
  std::size_t ring_bytes_ = 0;
  std::vector<std::string> notes_;
  std::vector<std::int32_t> tids_;
  std::vector<OpenedEvent> events_;
  std::vector<OpenedFd> fds_;
  std::vector<RingBuffer> rings_;
  std::vector<int> ring_fds_;
  std::vector<int> ring_cpus_;
  std::uint64_t lost_ = 0;
  int ring_refusal_ = 0;  // errno with which a ring could not be mapped
  std::string ring_note_;
  std::vector<std::string> left_out_;  // optional events that could not be opened
};

}  // namespace memtrace
