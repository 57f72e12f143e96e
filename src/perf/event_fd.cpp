#include "perf/event_fd.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/system.h"
#include "base/text.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kReadFormatLost = 1U << 4U;

std::string paranoid_level() {
  auto level = read_file("/proc/sys/kernel/perf_event_paranoid");
  return level.ok() ? std::string(trim(level.value())) : "unknown";
}

// kernels.md's errno list in words: what the user can do about each.
std::string hint_for(int errno_value, EventFd::Place place) {
  switch (errno_value) {
    case EACCES:
    case EPERM:
      return "run it as root, or with CAP_PERFMON and CAP_SYS_ADMIN; "
             "kernel.perf_event_paranoid is " +
             paranoid_level() + " and seccomp filters of containers forbid the call too";
    case ESRCH:
      return format("process or thread %d is gone", place.tid);
    case EMFILE:
      return "too many events for the open file limit: raise it with ulimit -n";
    case ENOENT:
    case ENODEV:
      return "this kernel does not have the event";
    case ENOSYS:
      return "this kernel was built without CONFIG_PERF_EVENTS";
    default:
      return "";
  }
}

int perf_event_open(const perf_event_attr& attr, EventFd::Place place, unsigned long flags) {
  return static_cast<int>(::syscall(SYS_perf_event_open, &attr, place.tid, place.cpu, -1, flags));
}

}  // namespace

Result<EventFd> EventFd::open(const perf_event_attr& attr, Place place, const std::string& name) {
  int fd = perf_event_open(attr, place, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0 && errno == EINVAL) {
    fd = perf_event_open(attr, place, 0);  // before 3.14 there is no such flag
    if (fd >= 0) {
      ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
  }
  if (fd < 0) {
    const int error = errno;
    return Error{"perf_event_open(" + name + ")", error, hint_for(error, place)};
  }
  return EventFd(UniqueFd(fd), name, (attr.read_format & kReadFormatLost) != 0);
}

Result<> EventFd::control(unsigned long request, unsigned long argument, const char* what) const {
  if (::ioctl(fd_.get(), request, argument) != 0) {
    return Error{format("%s(%s)", what, name_.c_str()), errno, ""};
  }
  return kDone;
}

Result<std::uint64_t> EventFd::id() const {
  std::uint64_t id = 0;
  if (::ioctl(fd_.get(), PERF_EVENT_IOC_ID, &id) != 0) {
    return Error{"PERF_EVENT_IOC_ID(" + name_ + ")", errno, ""};
  }
  return id;
}

Result<> EventFd::set_filter(const std::string& filter) const {
  if (::ioctl(fd_.get(), PERF_EVENT_IOC_SET_FILTER, filter.c_str()) != 0) {
    return Error{"filter '" + filter + "' for " + name_,
                 errno,
                 "comparisons of fields with values, joined by && and ||; fields are listed in "
                 "/sys/kernel/tracing/events/*/*/format; example: "
                 "-e kmem:kmalloc --filter 'bytes_req > 4096'",
                 ErrorKind::Usage};
  }
  return kDone;
}

Result<> EventFd::send_output_to(int owner_fd) const {
  return control(
      PERF_EVENT_IOC_SET_OUTPUT, static_cast<unsigned long>(owner_fd), "PERF_EVENT_IOC_SET_OUTPUT");
}

Result<> EventFd::enable() const {
  return control(PERF_EVENT_IOC_ENABLE, 0, "PERF_EVENT_IOC_ENABLE");
}

Result<> EventFd::disable() const {
  return control(PERF_EVENT_IOC_DISABLE, 0, "PERF_EVENT_IOC_DISABLE");
}

std::uint64_t EventFd::read_lost() const {
  std::array<std::uint64_t, 3> values{};  // value, id, lost
  const ssize_t got = ::read(fd_.get(), values.data(), sizeof(values));
  return counts_lost_ && got == static_cast<ssize_t>(sizeof(values)) ? values[2] : 0;
}

// A larger one with something in it is refused with E2BIG, and its size put right (kernel/events/
// core.c, perf_copy_attr).
std::uint32_t kernel_attr_bytes() {
  struct alignas(perf_event_attr) {
    perf_event_attr attr{};
    std::array<std::uint64_t, 32> beyond{};
  } larger;

  larger.attr.size = sizeof(larger);
  larger.beyond.back() = 1;
  const UniqueFd fd(perf_event_open(larger.attr, {.tid = 0}, 0));
  return !fd.valid() && errno == E2BIG ? larger.attr.size : 0;
}

Result<AttrFeatures> probe_features() {
  // Newest first: perf_event_open(2) says EINVAL but not which bit it did not know.
  constexpr auto kNewestFirst = std::to_array<bool AttrFeatures::*>({&AttrFeatures::format_lost,
                                                                     &AttrFeatures::clock_id,
                                                                     &AttrFeatures::comm_exec,
                                                                     &AttrFeatures::mmap2});
  AttrFeatures features;
  std::size_t stripped = 0;
  while (true) {
    perf_event_attr attr = make_attr(tracking_request(), {.features = features});
    attr.exclude_kernel = 1;  // allowed to anyone at perf_event_paranoid 2
    auto event = EventFd::open(attr, {.tid = 0}, "dummy");
    if (event.ok()) {
      return features;
    }
    if (event.error().errno_value != EINVAL || stripped == kNewestFirst.size()) {
      return event.take_error();
    }
    features.*kNewestFirst.at(stripped++) = false;
  }
}

}  // namespace memtrace
