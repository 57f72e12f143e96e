// Probes of memtrace processes that were killed.
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "os/procfs.h"
#include "os/system.h"
#include "tracepoints/format/tracefs.h"
#include "tracepoints/probe/uprobe_events.h"

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

// How many probes of dead processes there were in the list.
std::size_t remove_stale(const std::string& events_file, std::string_view list) {
  std::size_t removed = 0;
  for (const ListedProbe& probe : parse_probe_list(list)) {
    const auto pid = pid_of_probe_group(probe.group);
    if (pid && !is_running_memtrace(*pid, events_file)) {
      removed += remove_probe(events_file, probe, 1) == 0 ? 1 : 0;
    }
  }
  return removed;
}

}  // namespace

Result<std::size_t> remove_stale_probe_groups() {
  const auto root = tracefs_root();
  if (!root.ok()) {
    return root.error();
  }
  return remove_stale_probe_groups(root.value());
}

// A probe in use is not removed (EBUSY): a memtrace that lives in another pid namespace, whose pid
// means nothing here, keeps its probes.
Result<std::size_t> remove_stale_probe_groups(const std::string& tracing_directory) {
  const std::string events_file = probe_events_file(tracing_directory);
  const auto text = read_file(events_file);
  if (!text.ok()) {
    return cannot_use_probes(events_file, text.error().errno_value);
  }
  const std::string kernel_file = probe_events_file(tracing_directory, kKernelGroupStart);
  const auto kernel_text = read_file(kernel_file);  // without kprobes there is none
  return remove_stale(events_file, text.value()) +
         remove_stale(kernel_file, kernel_text.ok() ? kernel_text.value() : "");
}

}  // namespace memtrace
