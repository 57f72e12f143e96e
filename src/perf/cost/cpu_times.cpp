#include "perf/cost/cpu_times.h"

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kNsOfSecond = 1'000'000'000;

// Of the kernel's own statistics, as proc(5) counts them.
constexpr std::size_t kIdle = 3;
constexpr std::size_t kIoWait = 4;
constexpr std::size_t kGuest = 8;  // guests' time is in that of users already

std::uint64_t own_cpu_ns() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * kNsOfSecond +
           static_cast<std::uint64_t>(time.tv_usec) * 1000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

perf_event_attr task_clock(bool inherit) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = PERF_ATTR_SIZE_VER0;
  attr.config = PERF_COUNT_SW_TASK_CLOCK;
  attr.inherit = inherit ? 1 : 0;
  return attr;
}

std::uint64_t rise(std::uint64_t from, std::uint64_t to) {
  return to > from ? to - from : 0;
}

}  // namespace

MachineTimes parse_machine_times(std::string_view stat) {
  MachineTimes times;
  std::size_t column = 0;
  for (const std::string_view word : split(stat.substr(0, stat.find('\n')), ' ')) {
    const auto ticks = parse_number(word);
    if (!ticks || column == kGuest) {
      continue;  // "cpu", and the second blank behind it
    }
    const bool is_idle = column == kIdle || column == kIoWait;
    (is_idle ? times.idle_ticks : times.busy_ticks) += *ticks;
    ++column;
  }
  return times;
}

CpuTimesReader::CpuTimesReader(std::span<const std::int32_t> tids, bool inherit)
    : whole_machine_(std::ranges::equal(tids, std::vector<std::int32_t>{-1})) {
  for (const std::int32_t tid : whole_machine_ ? std::span<const std::int32_t>() : tids) {
    auto clock = EventFd::open(task_clock(inherit), {.tid = tid, .cpu = -1}, "task-clock");
    if (clock.ok()) {  // else it has ended, or uses no time that could be known
      clocks_.push_back(clock.take());
    }
  }
  before_ = read();
}

CpuTimesReader::Readings CpuTimesReader::read() const {
  Readings now{.own_ns = own_cpu_ns()};
  const auto stat = read_file("/proc/stat");
  now.machine = parse_machine_times(stat.ok() ? stat.value() : "");
  for (const EventFd& clock : clocks_) {
    now.watched_ns += clock.read_count();
  }
  return now;
}

CpuTimes CpuTimesReader::take() {
  const Readings now = read();
  static const auto ticks_a_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  const std::uint64_t busy = rise(before_.machine.busy_ticks, now.machine.busy_ticks);
  const std::uint64_t idle = rise(before_.machine.idle_ticks, now.machine.idle_ticks);
  CpuTimes times{.watched_ns = rise(before_.watched_ns, now.watched_ns),
                 .own_ns = rise(before_.own_ns, now.own_ns)};
  const std::uint64_t tick_ns = kNsOfSecond / ticks_a_second;
  if (whole_machine_) {
    times.watched_ns = rise(times.own_ns, busy * tick_ns);
  }
  if (busy + idle > 0) {
    const double all_ns = static_cast<double>(busy + idle) * static_cast<double>(tick_ns);
    const double busy_share = static_cast<double>(busy) / static_cast<double>(busy + idle);
    const double watched_share = static_cast<double>(times.watched_ns) / all_ns;
    times.lost_by_own = std::min(1.0, busy_share * watched_share);
  }
  before_ = now;
  return times;
}

}  // namespace memtrace
