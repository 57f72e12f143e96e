// One open perf event: perf_event_open(2) and its ioctls, with errors that say what to do.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "perf/event_attr.h"

namespace memtrace {

class EventFd {
 public:
  struct Place {
    std::int32_t tid = -1;  // -1: every task
    std::int32_t cpu = -1;  // -1: every CPU
  };

  // Error: "perf_event_open(NAME)" with the capability or sysctl that is missing.
  static Result<EventFd> open(const perf_event_attr& attr, Place place, const std::string& name);

  int fd() const { return fd_.get(); }

  // Kernel-assigned; in every record of this event. 0 when the kernel cannot say (before 3.12).
  Result<std::uint64_t> id() const;
  // Error: Usage, the kernel did not accept the expression.
  Result<> set_filter(const std::string& filter) const;
  // Records go into the ring of `owner_fd`, an event of the same CPU that has one.
  Result<> send_output_to(int owner_fd) const;
  Result<> enable() const;
  Result<> disable() const;
  // Records of this event that found the ring full (PERF_FORMAT_LOST); 0 where the kernel does not
  // count them.
  std::uint64_t read_lost() const;

 private:
  EventFd(UniqueFd fd, std::string name, bool counts_lost)
      : fd_(std::move(fd)), name_(std::move(name)), counts_lost_(counts_lost) {}

  Result<> control(unsigned long request, unsigned long argument, const char* what) const;

  UniqueFd fd_;
  std::string name_;
  bool counts_lost_ = false;
};

// The size of perf_event_attr that this kernel was built with, which tells its age; 0 when
// perf_event_open(2) may not be called.
std::uint32_t kernel_attr_bytes();

// What this kernel's perf_event_open(2) accepts, tried with an event on this very task.
Result<AttrFeatures> probe_features();

}  // namespace memtrace
