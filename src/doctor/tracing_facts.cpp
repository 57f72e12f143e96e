// The doctor's facts about tracing: where the kernel lets events be opened.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "doctor/facts.h"
#include "observe/kernel_config.h"
#include "os/system.h"
#include "os/unique_fd.h"
#include "perf/event/event_fd.h"
#include "tracepoints/format/tracefs.h"
#include "tracepoints/probe/uprobe_pmu.h"

namespace memtrace {
namespace {

// Not access(2), which asks for the real user's rights and sees no capabilities. Never O_TRUNC: it
// would remove everybody's probes.
bool can_write(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)).valid();
}

Fact tracing_directory(const std::string& root) {
  if (root.empty()) {
    return {FactId::TracingDirectory,
            "not mounted",
            "memtrace mounts it when it is run as root; by hand: mount -t tracefs nodev "
            "/sys/kernel/tracing (before Linux 4.1: mount -t debugfs nodev /sys/kernel/debug)"};
  }
  const auto events = list_directory(root + "/events");
  if (!events.ok()) {
    const Error error = explain({.doing = root + "/events",
                                 .errno_value = events.error().errno_value,
                                 .is_root = ::geteuid() == 0,
                                 .lockdown = read_file("/sys/kernel/security/lockdown").ok()
                                                 ? read_file("/sys/kernel/security/lockdown").take()
                                                 : ""});
    return {FactId::TracingDirectory, root + ", not readable", error.hint};
  }
  return {FactId::TracingDirectory,
          fmt::format("{}, {} groups of events", root, events.value().size()),
          ""};
}

Fact perf_events() {
  const auto features = probe_features();
  if (!features.ok()) {
    return {FactId::PerfEvents, describe(features.error()), features.error().hint, true};
  }
  std::vector<std::string> missing;
  std::vector<std::string> instead;
  for (const AttrFeature& feature : attr_features()) {
    if (!(features.value().*feature.is_there)) {
      missing.push_back(fmt::format("{} ({})", feature.name, feature.since));
      instead.emplace_back(feature.instead);
    }
  }
  return {FactId::PerfEvents,
          fmt::format("works, perf_event_attr of {} bytes", kernel_attr_bytes()) +
              (missing.empty() ? "" : ", without " + join(missing, ", ")),
          missing.empty() ? "" : "instead: " + join(instead, "; ")};
}

Fact user_probes(const std::string& root) {
  const bool by_tracefs = !root.empty() && can_write(root + "/uprobe_events");
  const auto pmu = UprobePmu::open();
  const bool by_pmu = pmu.ok() && pmu.value().is_allowed();
  if (by_tracefs) {
    return {FactId::UserProbes, by_pmu ? "uprobe_events, and the uprobe PMU" : "uprobe_events", ""};
  }
  if (by_pmu) {
    return {FactId::UserProbes,
            "the uprobe PMU only",
            "the kernel then does not filter by size; it does where uprobe_events is writable"};
  }
  const bool has_file = !root.empty() && path_exists(root + "/uprobe_events");
  const std::string reason = KernelConfig::of_machine().reason_against("uprobe:");
  if (has_file || (::geteuid() != 0 && reason.empty())) {
    return {FactId::UserProbes, "none", "run memtrace as root", true};
  }
  return {FactId::UserProbes,
          "none",
          reason.empty() ? "needs a kernel with CONFIG_UPROBE_EVENTS (Linux 3.5, RHEL 7)" : reason,
          true};
}

Fact kernel_probes(const std::string& root) {
  if (root.empty() || !list_directory(root + "/events").ok()) {
    return {FactId::Kprobes, "not known without the tracing directory", ""};
  }
  if (path_exists(root + "/kprobe_events")) {
    return {FactId::Kprobes, "kprobe_events, for --kprobes", ""};
  }
  return {FactId::Kprobes, "none", KernelConfig::of_machine().reason_against("kprobe:")};
}

}  // namespace

Fact user_probes_fact() {
  return user_probes(mounted_tracefs_root());
}

std::vector<Fact> tracing_facts() {
  const std::string root = mounted_tracefs_root();
  return {tracing_directory(root), perf_events(), user_probes(root), kernel_probes(root)};
}

}  // namespace memtrace
