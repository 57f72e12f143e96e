#include "perf/event/event_fd.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/text.h"
#include "os/procfs.h"
#include "os/system.h"
#include "os/this_thread.h"
#include "perf/record/perf_event_compat.h"

namespace memtrace {
namespace {

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
      return fmt::format("process or thread {} is gone", place.tid);
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

}  // namespace

Result<EventFd> EventFd::open(const perf_event_attr& attr,
                              Place place,
                              const std::string& name,
                              const KernelInterface& kernel) {
  perf_event_attr asked = attr;
  UniqueFd fd(kernel.calls->open(asked, place, kernel.knows_cloexec ? PERF_FLAG_FD_CLOEXEC : 0));
  if (!fd.valid()) {
    const int error = errno;
    return Error{"perf_event_open(" + name + ")", error, hint_for(error, place)};
  }
  if (!kernel.knows_cloexec) {
    ::fcntl(fd.get(), F_SETFD, FD_CLOEXEC);
  }
  return EventFd(std::move(fd), name, kernel.calls, attr.read_format);
}

// For an event that exec is to enable the kernel does not look for mappings
// (trace_uprobe_filter_add()). Where it lets nobody watch its threads, there is memtrace itself.
Result<EventFd> EventFd::open_registering(perf_event_attr attr,
                                          const std::string& name,
                                          const KernelInterface& kernel) {
  attr.inherit = 0;
  attr.disabled = 1;
  attr.enable_on_exec = 1;
  auto fd = open(attr, {.tid = static_cast<int>(process_without_files())}, name, kernel);
  return fd.ok() ? std::move(fd) : open(attr, {.tid = ::getpid()}, name, kernel);
}

Result<> EventFd::control(unsigned long request, unsigned long argument, const char* what) const {
  if (calls_->control(fd_.get(), request, argument) != 0) {
    return Error{fmt::format("{}({})", what, name_), errno, ""};
  }
  return kDone;
}

// PERF_EVENT_IOC_ID came with 3.12; read(2) has given the same id since 2.6.31.
Result<std::uint64_t> EventFd::id() const {
  std::uint64_t id = 0;
  if (calls_->control(fd_.get(), PERF_EVENT_IOC_ID, reinterpret_cast<std::uintptr_t>(&id)) == 0) {
    return id;
  }
  const int error = errno;
  std::array<std::uint64_t, 3> values{};  // value, id, lost
  const ssize_t got = calls_->read(fd_.get(), values);
  if ((read_format_ & PERF_FORMAT_ID) != 0 && got >= static_cast<ssize_t>(2 * sizeof(id))) {
    return values[1];
  }
  return Error{"PERF_EVENT_IOC_ID(" + name_ + ")", error, ""};
}

Result<> EventFd::set_filter(const std::string& filter) const {
  if (filter.empty()) {
    return kDone;
  }
  if (calls_->control(fd_.get(),
                      PERF_EVENT_IOC_SET_FILTER,
                      reinterpret_cast<std::uintptr_t>(filter.c_str())) != 0) {
    return Error{
        "filter '" + filter + "' for " + name_,
        errno,
        filter.find("comm") != std::string::npos
            ? "the kernel compares comm since Linux 4.4; memtrace report --comm does so "
              "for every recording"
            : "comparisons of fields with values, joined by && and ||; fields are listed in "
              "/sys/kernel/tracing/events/*/*/format; example: "
              "-e kmem:kmalloc --filter 'bytes_req > 4096'",
        ErrorKind::Usage};
  }
  return kDone;
}

Result<> EventFd::set_filter_for_others(const std::string& filter) const {
  const std::string others = "comm != \"" + own_comm() + "\"";
  const std::string both = filter.empty() ? others : "(" + filter + ") && " + others;
  return set_filter(both).ok() ? Result<>(kDone) : set_filter(filter);
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

std::uint64_t EventFd::read_count() const {
  std::array<std::uint64_t, 3> values{};  // value, id, lost
  const ssize_t got = calls_->read(fd_.get(), values);
  return got >= static_cast<ssize_t>(sizeof(values[0])) ? values[0] : 0;
}

std::uint64_t EventFd::read_lost() const {
  std::array<std::uint64_t, 3> values{};  // value, id, lost
  const ssize_t got = calls_->read(fd_.get(), values);
  return (read_format_ & kReadFormatLost) != 0 && got == static_cast<ssize_t>(sizeof(values))
             ? values[2]
             : 0;
}

}  // namespace memtrace
