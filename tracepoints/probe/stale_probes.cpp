#include "tracepoints/probe/stale_probes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <utility>

#include "os/procfs.h"
#include "os/system.h"
#include "tracepoints/format/tracefs.h"
#include "tracepoints/probe/uprobe_events.h"
#include "tracepoints/probe/uprobe_names.h"

namespace memtrace {
namespace {

// A memtrace that has probes keeps the file open in which they are defined: ProbeGroup.
bool has_open(const std::string& process, const std::string& events_file) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(process + "/fd", failed)) {
    if (std::filesystem::equivalent(entry.path(), events_file, failed)) {
      return true;
    }
  }
  return false;
}

// A pid may be another program's by now, and memtrace may have been given another name.
bool is_running_memtrace(pid_t pid, const std::string& events_file) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) {
    return false;
  }
  const std::string process = proc_path(static_cast<std::uint32_t>(pid));
  const std::string comm = proc_text(static_cast<std::uint32_t>(pid), "comm");
  if (comm.starts_with("memtrace")) {
    return true;
  }
  std::error_code failed;
  const auto program = std::filesystem::read_symlink(process + "/exe", failed);
  const auto own = std::filesystem::read_symlink("/proc/self/exe", failed);
  const bool is_unknown = program.empty() && comm.empty();  // of another user, or /proc is hidden
  return is_unknown || program == own || program.filename().string().starts_with("memtrace") ||
         has_open(process, events_file);
}

// Adds those of dead processes that are in the list. An event of several places is there once for
// each of them, and the kernel removes them all at once (trace_uprobe.c, dyn_event_release()).
void add_stale(const std::string& events_file,
               std::string_view list,
               StaleAction action,
               std::vector<StaleProbe>& stale) {
  for (const ListedProbe& probe : parse_probe_list(list)) {
    const auto pid = pid_of_probe_group(probe.group);
    std::string name = probe.group + ":" + probe.event;
    const bool is_known = std::ranges::find(stale, name, &StaleProbe::name) != stale.end();
    if (pid && !is_known && !is_running_memtrace(*pid, events_file)) {
      const int failed = action == StaleAction::List ? 0 : remove_probe(events_file, probe, 1);
      stale.push_back({.name = std::move(name), .errno_value = failed});
    }
  }
}

}  // namespace

Result<std::vector<StaleProbe>> stale_probes(StaleAction action) {
  const auto root = tracefs_root();
  return root.ok() ? stale_probes_in(root.value(), action)
                   : Result<std::vector<StaleProbe>>(root.error());
}

// A probe in use is not removed (EBUSY): a memtrace that lives in another pid namespace, whose pid
// means nothing here, keeps its probes.
Result<std::vector<StaleProbe>> stale_probes_in(const std::string& tracing_directory,
                                                StaleAction action) {
  const std::string events_file = probe_events_file(tracing_directory);
  const auto text = read_file(events_file);
  if (!text.ok()) {
    return cannot_use_probes(events_file, text.error().errno_value);
  }
  std::vector<StaleProbe> stale;
  add_stale(events_file, text.value(), action, stale);
  const std::string kernel_file = probe_events_file(tracing_directory, kKernelGroupStart);
  const auto kernel_text = read_file(kernel_file);  // without kprobes there is none
  add_stale(kernel_file, kernel_text.ok() ? kernel_text.value() : "", action, stale);
  return stale;
}

Result<std::size_t> remove_stale_probes() {
  const auto stale = stale_probes(StaleAction::Remove);
  if (!stale.ok()) {
    return stale.error();
  }
  return static_cast<std::size_t>(std::ranges::count(stale.value(), 0, &StaleProbe::errno_value));
}

}  // namespace memtrace
