#include "perf/event/perf_calls.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace memtrace {
namespace {

class SystemPerfCalls final : public PerfCalls {
 public:
  int open(perf_event_attr& attr, Place place, unsigned long flags) const override {
    return static_cast<int>(::syscall(SYS_perf_event_open, &attr, place.tid, place.cpu, -1, flags));
  }

  int control(int fd, unsigned long request, unsigned long argument) const override {
    return ::ioctl(fd, request, argument);
  }

  ssize_t read(int fd, std::span<std::uint64_t> values) const override {
    return ::read(fd, values.data(), values.size_bytes());
  }
};

}  // namespace

const PerfCalls& system_perf_calls() {
  static const SystemPerfCalls calls;
  return calls;
}

}  // namespace memtrace
