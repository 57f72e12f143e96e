// The system calls that events are made of, as a seam: tests put kernels of other ages behind it.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace memtrace {

class PerfCalls {
 public:
  struct Place {
    std::int32_t tid = -1;  // -1: every task
    std::int32_t cpu = -1;  // -1: every CPU
  };

  virtual ~PerfCalls() = default;

  // All as the system calls: -1 and errno. An attr that is too large comes back with the kernel's
  // size (E2BIG).
  virtual int open(perf_event_attr& attr, Place place, unsigned long flags) const = 0;
  virtual int control(int fd, unsigned long request, unsigned long argument) const = 0;
  virtual ssize_t read(int fd, std::span<std::uint64_t> values) const = 0;
};

// This machine's.
const PerfCalls& system_perf_calls();

}  // namespace memtrace
