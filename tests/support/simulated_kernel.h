// Kernels of other ages behind perf_event_open(2): they refuse what they do not know, with the
// errno that the real ones give.
#pragma once

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "perf/event/perf_calls.h"

namespace memtrace::test {

// How many bits of each word a kernel knows, from the lowest.
struct KernelModel {
  const char* name = "";
  std::uint32_t attr_bytes = 0;
  unsigned flag_bits = 0;  // those of the attr, from `disabled` on
  unsigned sample_bits = 0;
  unsigned read_bits = 4;
  std::uint64_t software_events = 10;
  bool has_clock_id = true;  // RHEL 7.3 has the flag behind it, context_switch, but not this one
  bool has_cloexec = true;
  bool has_id_ioctl = true;
  const char* missing = "";  // names of attr_features() that are not there
};

class SimulatedKernel final : public PerfCalls {
 public:
  struct Opened {
    perf_event_attr attr{};
    std::uint64_t id = 0;
    std::string filter;
    std::uint64_t count = 0;
  };

  explicit SimulatedKernel(const KernelModel& model) : model_(model) {}

  int open(perf_event_attr& attr, Place place, unsigned long flags) const override {
    if (const int refused = refusal(attr, flags); refused != 0) {
      errno = refused;
      return -1;
    }
    const int fd = ::memfd_create("event", MFD_CLOEXEC);
    // Room for any ring; its control page reads 0 everywhere, as data_offset did before 4.1.
    if (fd < 0 || ::ftruncate(fd, off_t{1} << 30U) != 0) {
      return -1;
    }
    opened_[fd] = {.attr = attr, .id = ++last_id_};
    std::memcpy(&opened_[fd].attr, &attr, std::min<std::size_t>(attr.size, sizeof(attr)));
    history_.push_back({.attr = opened_[fd].attr, .place = place});
    return fd;
  }

  int control(int fd, unsigned long request, unsigned long argument) const override {
    if (request == PERF_EVENT_IOC_ID && !model_.has_id_ioctl) {
      errno = ENOTTY;
      return -1;
    }
    if (request == PERF_EVENT_IOC_ID) {
      *reinterpret_cast<std::uint64_t*>(argument) = opened_[fd].id;
    } else if (request == PERF_EVENT_IOC_SET_FILTER) {
      opened_[fd].filter = reinterpret_cast<const char*>(argument);
    }
    return 0;
  }

  ssize_t read(int fd, std::span<std::uint64_t> values) const override {
    values[0] = opened_[fd].count;
    values[1] = opened_[fd].id;
    return static_cast<ssize_t>(2 * sizeof(values[0]));
  }

  // What a descriptor's event has come to.
  void set_count(int fd, std::uint64_t count) { opened_[fd].count = count; }

  struct Opening {
    perf_event_attr attr{};
    Place place;
  };

  // One after the other.
  const std::vector<Opening>& history() const { return history_; }

  // By descriptor: closed ones too, until their number is used again.
  const std::map<int, Opened>& opened() const { return opened_; }

 private:
  static std::uint64_t beyond(std::uint64_t word, unsigned bits) {
    return bits < 64 ? word >> bits : 0;  // to shift a word by its width is undefined
  }

  int refusal(perf_event_attr& attr, unsigned long flags) const {
    const auto bytes = std::as_bytes(std::span(&attr, 1)).data();
    for (std::uint32_t at = model_.attr_bytes; at < attr.size; ++at) {
      if (bytes[at] != std::byte{0}) {
        attr.size = model_.attr_bytes;
        return E2BIG;
      }
    }
    std::uint64_t own_flags = 0;
    constexpr std::size_t kFlagsOffset = 40;
    std::memcpy(&own_flags, bytes + kFlagsOffset, sizeof(own_flags));
    const bool clock_refused = attr.use_clockid != 0 && !model_.has_clock_id;
    if (beyond(own_flags, model_.flag_bits) != 0 || clock_refused ||
        beyond(attr.sample_type, model_.sample_bits) != 0 ||
        beyond(attr.read_format, model_.read_bits) != 0 ||
        beyond(flags, model_.has_cloexec ? 4 : 3) != 0) {
      return EINVAL;
    }
    const bool unknown_event =
        attr.type == PERF_TYPE_SOFTWARE && attr.config >= model_.software_events;
    return unknown_event ? ENOENT : 0;
  }

  KernelModel model_;
  mutable std::map<int, Opened> opened_;
  mutable std::uint64_t last_id_ = 0;
  mutable std::vector<Opening> history_;
};

}  // namespace memtrace::test
