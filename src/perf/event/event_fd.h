// One open perf event: perf_event_open(2) and its ioctls, with errors that say what to do.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "os/unique_fd.h"
#include "perf/event/event_attr.h"
#include "perf/event/perf_calls.h"

namespace memtrace {

// Whom to ask, and how.
struct KernelInterface {
  const PerfCalls* calls = &system_perf_calls();
  bool knows_cloexec = true;  // AttrFeatures::cloexec
};

class EventFd {
 public:
  using Place = PerfCalls::Place;

  // Error: "perf_event_open(NAME)" with the capability or sysctl that is missing.
  static Result<EventFd> open(const perf_event_attr& attr,
                              Place place,
                              const std::string& name,
                              const KernelInterface& kernel = {});

  // An event that keeps a user probe registered and sets no breakpoint: it belongs to a process
  // that does not map the probed file. (What belongs to memtrace itself would set one in the code
  // that it shares with the programs as soon as another process has an event of the probe:
  // uprobe_perf_filter() in kernel/trace/trace_uprobe.c.) Error: as open().
  static Result<EventFd> open_registering(perf_event_attr attr,
                                          const std::string& name,
                                          const KernelInterface& kernel = {});

  int fd() const { return fd_.get(); }

  // Kernel-assigned; in every record of this event.
  Result<std::uint64_t> id() const;
  // "" is none. Error: Usage, the kernel did not accept the expression.
  Result<> set_filter(const std::string& filter) const;
  // The same, without what memtrace does itself. Kernels whose filters do not know comm record it,
  // to be left out later.
  Result<> set_filter_for_others(const std::string& filter) const;
  // Records go into the ring of `owner_fd`, an event of the same CPU that has one.
  Result<> send_output_to(int owner_fd) const;
  Result<> enable() const;
  Result<> disable() const;
  // How often the event has happened while it was enabled; 0 when it cannot be read.
  std::uint64_t read_count() const;
  // Records of this event that found the ring full (PERF_FORMAT_LOST); 0 where the kernel does not
  // count them.
  std::uint64_t read_lost() const;

 private:
  EventFd(UniqueFd fd, std::string name, const PerfCalls* calls, std::uint64_t read_format)
      : fd_(std::move(fd)), name_(std::move(name)), calls_(calls), read_format_(read_format) {}

  Result<> control(unsigned long request, unsigned long argument, const char* what) const;

  UniqueFd fd_;
  std::string name_;
  const PerfCalls* calls_;
  std::uint64_t read_format_ = 0;
};

}  // namespace memtrace
