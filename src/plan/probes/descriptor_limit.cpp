#include "plan/probes/descriptor_limit.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>

#include "os/system.h"

namespace memtrace {
namespace {

// Rings, files and libraries of our own.
constexpr std::uint64_t kReserved = 64;

// EventSet raises the limit to this much where it may: fs.nr_open's default.
constexpr std::uint64_t kMaxDescriptors = 1U << 20U;

std::uint64_t reachable_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return kMaxDescriptors;
  }
  return ::geteuid() == 0 ? std::max<std::uint64_t>(limit.rlim_max, kMaxDescriptors)
                          : std::uint64_t{limit.rlim_max};
}

}  // namespace

Result<> check_descriptors(const DescriptorNeed& need, std::uint64_t limit) {
  const std::size_t per_event = need.task_count * need.cpu_count;
  const std::uint64_t usable = limit > kReserved ? limit - kReserved : 0;
  if (per_event == 0 || need.event_count <= usable / per_event) {
    return kDone;
  }
  return Error{
      fmt::format("event '{}' has {} places: for {} threads on {} CPUs it needs {} file "
                  "descriptors, but the limit is {}",
                  need.event,
                  need.event_count,
                  need.task_count,
                  need.cpu_count,
                  need.event_count * per_event,
                  limit),
      0,
      fmt::format("a narrower pattern of at most {} places, fewer threads (-t), or a higher "
                  "ulimit -n",
                  usable / per_event),
      ErrorKind::Usage};
}

Result<> check_descriptors(const std::string& event,
                           std::size_t event_count,
                           const Target& target) {
  const bool has_tasks = target.kind == TargetKind::Processes || target.kind == TargetKind::Threads;
  const auto tasks = has_tasks ? tasks_of(target) : Result(std::vector<std::int32_t>{-1});
  if (!tasks.ok()) {
    return tasks.error();
  }
  return check_descriptors({.event = event,
                            .event_count = event_count,
                            .task_count = tasks.value().size(),
                            .cpu_count = static_cast<std::size_t>(std::max(1, ::get_nprocs()))},
                           reachable_limit());
}

}  // namespace memtrace
