// The kernel's tracing directory: which tracepoints there are, their ids and their formats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memtrace {

// "/sys/kernel/tracing", or debugfs's "tracing" on kernels before 4.1 and RHEL 6 and 7. Mounts it
// when it is not mounted and we are root, and says so on stderr. Error: no tracing in this kernel,
// not mounted and not root, not allowed, locked down; each with its remedy.
Result<std::string> tracefs_root();

// Where it is mounted now, of several the first; "" when it is not. Mounts nothing.
std::string mounted_tracefs_root();

// Files below a tracing directory; any directory of the same shape will do. Events are written
// "group:event". Errors of names: Usage, with the nearest names that exist.
class TracepointFiles {
 public:
  // The formats of this machine's tracing directory.
  static Result<TracepointFiles> open();

  // The same without mounting it. Error: not mounted, or not to be read by this user.
  static Result<TracepointFiles> open_as_it_is();

  explicit TracepointFiles(std::string root);

  const std::string& root() const { return root_; }

  // Whether any event matches this name or pattern ("vmscan:*", "*:mm_*").
  bool has(std::string_view pattern) const;

  // All events that match, sorted; none is no error.
  std::vector<std::string> find_events(std::string_view pattern) const;

  // The same. Error: Usage, when none does; looking for the nearest names takes its time.
  Result<std::vector<std::string>> list_events(std::string_view pattern) const;

  Result<std::string> event_format_text(std::string_view event) const;

  // What perf_event_attr::config takes.
  Result<std::uint64_t> event_id(std::string_view event) const;

  // How ftrace lays out its own ring pages: nothing that we use, but perf.data must hold them.
  Result<std::string> header_page() const;
  Result<std::string> header_event() const;

 private:
  std::vector<std::string> matching(std::string_view group, std::string_view event) const;
  Error unknown_event(std::string_view event) const;

  std::string root_;
};

// events/header_page of a 64-bit kernel with pages of 4 KiB, for where tracefs cannot be read: perf
// refuses a file with tracepoints and without it.
std::string_view usual_header_page();

// What to say of a tracing directory that could not be used, and why it could not.
struct TracefsFailure {
  std::string doing;  // "mount(/sys/kernel/tracing)"
  int errno_value = 0;
  bool is_root = false;
  std::string lockdown;  // text of /sys/kernel/security/lockdown; "" when there is none
};

Error explain(const TracefsFailure& failure);

}  // namespace memtrace
