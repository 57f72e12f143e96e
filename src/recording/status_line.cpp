#include "recording/status_line.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

std::uint64_t nanoseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * kNsPerSecond +
         static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

std::uint64_t own_cpu_ns() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
}

std::uint64_t own_memory_bytes() {
  const std::string status = proc_text(static_cast<std::uint32_t>(::getpid()), "status");
  return proc_bytes(status, "VmRSS").value_or(0);
}

}  // namespace

std::string status_text(const RecordingProgress& now, const RecordingProgress& before) {
  const double seconds = static_cast<double>(now.time_ns - before.time_ns) / kNsPerSecond;
  const double rate = seconds > 0 ? static_cast<double>(now.samples - before.samples) / seconds : 0;
  const double cpu_seconds = static_cast<double>(now.cpu_ns - before.cpu_ns) / kNsPerSecond;
  std::string text = fmt::format("{} s  {} events/s  {}  {}  {:.0f} % of a CPU",
                                 now.time_ns / kNsPerSecond,
                                 print_count(static_cast<std::uint64_t>(rate)),
                                 now.lost == 0 ? "none lost" : print_count(now.lost) + " lost",
                                 print_bytes(now.file_bytes),
                                 seconds > 0 ? 100 * cpu_seconds / seconds : 0);
  if (now.memory_bytes != 0) {
    text += "  " + print_bytes(now.memory_bytes) + " of memory";
  }
  return text;
}

StatusLine::StatusLine(bool wanted)
    : is_wanted_(wanted), started_ns_(monotonic_ns()), last_{.cpu_ns = own_cpu_ns()} {}

void StatusLine::show(std::uint64_t samples, std::uint64_t lost, std::uint64_t file_bytes) {
  const std::uint64_t time_ns = is_wanted_ ? monotonic_ns() - started_ns_ : 0;
  if (!is_wanted_ || time_ns < last_.time_ns + kNsPerSecond) {
    return;
  }
  const RecordingProgress now{.time_ns = time_ns,
                              .samples = samples,
                              .lost = lost,
                              .file_bytes = file_bytes,
                              .cpu_ns = own_cpu_ns(),
                              .memory_bytes = own_memory_bytes()};
  show_status(status_text(now, last_));
  last_ = now;
}

void StatusLine::end() {
  if (is_wanted_) {
    show_status("");
  }
  is_wanted_ = false;
}

}  // namespace memtrace
