#include "perf/event/filter_inheritance.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace memtrace {
namespace {

constexpr const char* kNothingPasses = "pid == 0";

}  // namespace

bool filters_reach_children(std::uint64_t exit_event_id, const KernelInterface& kernel) {
  perf_event_attr attr{};
  attr.size = PERF_ATTR_SIZE_VER0;
  attr.type = kTypeTracepoint;
  attr.config = exit_event_id;
  attr.inherit = 1;
  const auto event = EventFd::open(attr, {.tid = 0}, "sched:sched_process_exit", kernel);
  if (!event.ok() || !event.value().set_filter(kNothingPasses).ok()) {
    return true;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(0);
  }
  if (child < 0 || ::waitpid(child, nullptr, 0) != child) {
    return true;
  }
  // A child's count is added to its parent's when it ends.
  std::array<std::uint64_t, 1> count{};
  return kernel.calls->read(event.value().fd(), count) < 0 || count[0] == 0;
}

}  // namespace memtrace
