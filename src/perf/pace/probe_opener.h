// Opens the user probes of a set again and again while it records.
//
// The kernel puts a breakpoint into a task's memory when the task's first event is opened, and
// takes it out when the last one is closed. Disabling an event leaves the breakpoint there. For all
// probes together this takes some milliseconds, as long as another event keeps each probe
// registered. Without such an event it takes 80 ms for each probe (uprobe_perf_open(),
// uprobe_perf_close() in kernel/trace/trace_uprobe.c; tried on 6.18).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "perf/event/event_set.h"
#include "perf/record/passing_ids.h"

namespace memtrace {

class ProbeOpener {
 public:
  // `events` has been opened, and outlives it, as `ids` does.
  ProbeOpener(const EventSet& events, PassingIds& ids);

  // All user probes, also those that share one event of the kernel's: indices into
  // EventSet::events().
  std::span<const std::uint32_t> events() const { return events_; }

  // Events of memtrace itself, which keep all probes registered and are never enabled.
  Result<std::vector<OpenedFd>> hold() const;

  // All probes for these tasks ({-1}: all tasks), into the set's rings. Their ids are known before
  // they are enabled. A task that has ended is left out.
  Result<std::vector<OpenedFd>> open(std::span<const std::int32_t> tids) const;

  // One of them, whose hits are counted and not recorded.
  Result<std::vector<OpenedFd>> open_counting(std::uint32_t event,
                                              std::span<const std::int32_t> tids) const;

 private:
  struct Probe {
    std::uint32_t event = 0;  // index into EventSet::events()
    perf_event_attr attr{};
    std::string name;
    std::string filter;
  };

  // Error: any but ESRCH.
  Result<> open_for(const Probe& probe,
                    std::span<const std::int32_t> tids,
                    bool is_recorded,
                    std::vector<OpenedFd>& opened) const;
  Result<> open_for_task(const Probe& probe,
                         std::int32_t tid,
                         bool is_recorded,
                         std::vector<OpenedFd>& opened) const;
  Result<EventFd> open_one(const Probe& probe, EventFd::Place place, int ring_fd) const;

  PassingIds& ids_;
  KernelInterface kernel_;
  std::vector<std::uint32_t> events_;
  std::vector<Probe> probes_;  // that are to be opened
  std::vector<int> ring_fds_;
  std::vector<int> ring_cpus_;
};

}  // namespace memtrace
