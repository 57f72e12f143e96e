#include "perf/cost/switch_cost.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <future>
#include <thread>
#include <utility>

#include "base/thread/blocked_signals.h"
#include "base/units.h"
#include "os/guarded_thread.h"
#include "os/system.h"
#include "os/unique_fd.h"

namespace memtrace {
namespace {

constexpr int kRoundTrips = 100;
constexpr int kSwitchRounds = 12;
constexpr double kSwitchesOfTrip = 2;

// Where it cannot be measured: of Linux 6.18 on a virtual machine.
constexpr double kFirstEventNs = 1600;
constexpr double kNextEventNs = 370;

// Of less time a share says nothing.
constexpr double kLeastJudgedNs = 50'000'000;

perf_event_attr software(std::uint64_t config) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = PERF_ATTR_SIZE_VER0;
  attr.config = config;
  return attr;
}

// While it lives, this thread and those that it starts stay on one CPU.
class OneCpu {
 public:
  OneCpu() : is_set_(::sched_getaffinity(0, sizeof(before_), &before_) == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(std::max(0, ::sched_getcpu())), &one);
    is_set_ = is_set_ && ::sched_setaffinity(0, sizeof(one), &one) == 0;
  }

  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;
  OneCpu(OneCpu&&) = delete;
  OneCpu& operator=(OneCpu&&) = delete;

  ~OneCpu() {
    if (is_set_) {
      (void)::sched_setaffinity(0, sizeof(before_), &before_);
    }
  }

  bool is_set() const { return is_set_; }

 private:
  cpu_set_t before_{};
  bool is_set_ = false;
};

// Another thread of this CPU, which sends back what it gets.
class Partner {
 public:
  explicit Partner(std::array<int, 2> sockets) : ours_(sockets[0]), theirs_(sockets[1]) {
    const BlockedSignals blocked;
    thread_ = start_guarded_thread([this] {
      tid_.set_value(::gettid());
      char byte = 0;
      while (::read(theirs_.get(), &byte, 1) == 1 && ::write(theirs_.get(), &byte, 1) == 1) {
      }
    });
  }

  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;
  Partner(Partner&&) = delete;
  Partner& operator=(Partner&&) = delete;

  ~Partner() {
    (void)::shutdown(ours_.get(), SHUT_RDWR);
    thread_.join();
  }

  int tid() { return tid_.get_future().get(); }

  // 0: it does not answer.
  double fastest_trip_ns() const {
    double fastest = trip_ns();
    for (int round = 1; round < kSwitchRounds; ++round) {
      fastest = std::min(fastest, trip_ns());
    }
    return fastest;
  }

 private:
  bool answers() const {
    char byte = 0;
    return ::write(ours_.get(), &byte, 1) == 1 && ::read(ours_.get(), &byte, 1) == 1;
  }

  double trip_ns() const {
    const std::uint64_t start_ns = monotonic_ns();
    for (int trip = 0; trip < kRoundTrips; ++trip) {
      if (!answers()) {
        return 0;
      }
    }
    return static_cast<double>(monotonic_ns() - start_ns) / kRoundTrips;
  }

  UniqueFd ours_, theirs_;
  std::promise<int> tid_;
  std::thread thread_;
};

// Events that no switch hits.
Result<> open_on(int tid, std::size_t count, std::vector<EventFd>& opened) {
  const perf_event_attr faults = software(PERF_COUNT_SW_PAGE_FAULTS);
  for (std::size_t i = 0; i < count; ++i) {
    auto event = EventFd::open(faults, {.tid = tid, .cpu = -1}, "calibration");
    if (!event.ok()) {
      return event.take_error();
    }
    opened.push_back(event.take());
  }
  return kDone;
}

}  // namespace

Result<double> measure_switch_ns(std::size_t events) {
  const OneCpu one_cpu;
  std::array<int, 2> sockets{};
  if (!one_cpu.is_set() ||
      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return Error{"measuring a context switch", errno, ""};
  }
  Partner partner(sockets);
  const int other = partner.tid();
  const double bare = partner.fastest_trip_ns();
  std::vector<EventFd> opened;
  TRY(open_on(0, events, opened));
  TRY(open_on(other, events, opened));
  const double watched = partner.fastest_trip_ns();
  if (bare <= 0 || watched <= 0) {
    return Error{"measuring a context switch", EPIPE, ""};
  }
  // Never nothing: the difference may drown in the noise of a busy machine.
  constexpr double kLeastNs = 50;
  return std::max((watched - bare) / kSwitchesOfTrip, kLeastNs);
}

SwitchCost::SwitchCost(const Setup& setup) : limit_(setup.limit) {
  if (std::ranges::equal(setup.tids, std::array{-1})) {
    return;
  }
  const auto measured = measure_switch_ns(setup.events);
  const double assumed_ns = kFirstEventNs + kNextEventNs * (static_cast<double>(setup.events) - 1);
  ns_ = measured.ok() ? measured.value() : assumed_ns;
  perf_event_attr attr = software(PERF_COUNT_SW_CONTEXT_SWITCHES);
  attr.inherit = setup.inherit ? 1 : 0;
  for (const std::int32_t tid : setup.tids) {
    auto counter = EventFd::open(attr, {.tid = tid, .cpu = -1}, "context-switches");
    if (counter.ok()) {  // else it has ended
      counters_.push_back(counter.take());
    }
  }
}

double SwitchCost::take_ns(double watched_ns) {
  std::uint64_t now = 0;
  for (const EventFd& counter : counters_) {
    now += counter.read_count();
  }
  const std::uint64_t rise = now - std::min(now, switches_);
  switches_ = std::max(now, switches_);
  const double cost_ns = static_cast<double>(rise) * ns_;
  if (watched_ns > kLeastJudgedNs && cost_ns > limit_ * watched_ns) {
    tell(static_cast<double>(rise) / watched_ns, cost_ns / watched_ns);
  }
  return cost_ns;
}

void SwitchCost::tell(double switches_a_ns, double share) {
  constexpr double kNsOfCpuSecond = 1e9;
  constexpr double kNsOfUs = 1000;
  constexpr double kHundred = 100;
  if (std::exchange(is_told_, true)) {
    return;
  }
  news_ = fmt::format(
      "each context switch of a watched task takes up to {:.1f} us more because the task has "
      "events: {} switches in a second of CPU time cost the programs up to {:.1f} % of it, and "
      "{:.1f} % is the limit; record fewer events, or watch the whole machine with -a, where "
      "switches take no longer",
      ns_ / kNsOfUs,
      print_count(static_cast<std::uint64_t>(switches_a_ns * kNsOfCpuSecond)),
      kHundred * share,
      kHundred * limit_);
}

std::string SwitchCost::take_news() {
  return std::exchange(news_, "");
}

}  // namespace memtrace
