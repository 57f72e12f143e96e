#include "tracepoints/probe/uprobe_events.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/log.h"
#include "os/system.h"
#include "os/unique_fd.h"
#include "tracepoints/format/tracefs.h"

namespace memtrace {
namespace {

// Closing a perf event lets go of its probe only after a grace period of the kernel.
constexpr int kBusyTries = 200;
constexpr std::chrono::milliseconds kBusyPause{10};

// The kernel splits a definition at blanks and ends it at # (trace_parse_run_command()); it finds
// a file through our own descriptor just as well.
struct NamedPath {
  UniqueFd fd;
  std::string text;
};

NamedPath name_for_kernel(const std::string& path) {
  if (path.find_first_of(" \t\n\v\f\r#") == std::string::npos) {
    return {UniqueFd(), path};
  }
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  std::string text = fmt::format("/proc/{}/fd/{}", ::getpid(), fd.get());
  return {std::move(fd), std::move(text)};
}

std::string hint_for(const ProbeDefinition& definition, int errno_value) {
  struct stat facts {};

  if (::stat(definition.path.c_str(), &facts) != 0) {
    return definition.path +
           " cannot be seen from here; for a program in a container give the "
           "file as /proc/PID/root/...";
  }
  if (!S_ISREG(facts.st_mode)) {
    return definition.path + " is not a file";
  }
  if (definition.ref_ctr_offset != 0) {
    return "probes with semaphores need Linux 4.20 or RHEL 8.1";
  }
  if (errno_value == ENOSPC || errno_value == E2BIG) {
    return "too many or too long arguments: the kernel takes 128 of 63 characters";
  }
  return "this kernel may lack this kind of argument: Linux 3.10 and RHEL 7.3 support only "
         "registers";
}

}  // namespace

std::string probe_events_file(const std::string& root, std::string_view group) {
  return root + (group.starts_with(kKernelGroupStart) ? "/kprobe_events" : "/uprobe_events");
}

int remove_probe(const std::string& events_file,
                 const ListedProbe& probe,
                 int tries,
                 WriteProbeCommand write) {
  int errno_value = EBUSY;
  for (int i = 0; i < tries && errno_value == EBUSY; ++i) {
    if (i > 0) {
      std::this_thread::sleep_for(kBusyPause);
    }
    errno_value = write(events_file, fmt::format("-:{}/{}", probe.group, probe.event));
  }
  return errno_value == ENOENT ? 0 : errno_value;
}

Error cannot_use_probes(const std::string& events_file, int errno_value) {
  const std::string doing = "open(" + events_file + ")";
  if (errno_value == ENOENT && events_file.ends_with("/kprobe_events")) {
    return Error{doing, errno_value, "this kernel has no kprobes: they need CONFIG_KPROBE_EVENTS"};
  }
  if (errno_value == ENOENT) {
    return Error{doing,
                 errno_value,
                 "this kernel has no user probes: they need CONFIG_UPROBE_EVENTS, and Linux 3.5 or "
                 "RHEL 7"};
  }
  const auto lockdown = read_file("/sys/kernel/security/lockdown");
  Error error = explain({.doing = doing,
                         .errno_value = errno_value,
                         .is_root = ::geteuid() == 0,
                         .lockdown = lockdown.ok() ? lockdown.value() : ""});
  return error;
}

// O_APPEND and never O_TRUNC, which would remove everybody's probes (uprobe_events' probes_open()).
int write_probe_command(const std::string& events_file, const std::string& command) {
  const UniqueFd fd(::open(events_file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!fd.valid()) {
    return errno;
  }
  const std::string line = command + "\n";
  const ssize_t written = ::write(fd.get(), line.data(), line.size());
  return written == static_cast<ssize_t>(line.size()) ? 0 : errno;
}

std::string probe_command(const ProbeDefinition& definition,
                          const std::string& path,
                          const std::string& full_name) {
  const std::string place = definition.kernel_function.empty()
                                ? fmt::format("{}:0x{:x}", path, definition.file_offset)
                                : definition.kernel_function;
  std::string command = fmt::format("{}:{} {}", definition.is_return ? 'r' : 'p', full_name, place);
  if (definition.ref_ctr_offset != 0) {
    command += fmt::format("(0x{:x})", definition.ref_ctr_offset);
  }
  return definition.args.empty() ? command : command + " " + definition.args;
}

Result<ProbeGroup> ProbeGroup::create(ProbeKind kind) {
  auto root = tracefs_root();
  if (!root.ok()) {
    return root.take_error();
  }
  return create_in(root.value(), probe_group_name(kind, ::getpid()));
}

Result<ProbeGroup> ProbeGroup::create_in(const std::string& tracing_directory,
                                         const std::string& group,
                                         WriteProbeCommand write) {
  const std::string events_file = probe_events_file(tracing_directory, group);
  UniqueFd fd(::open(events_file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!fd.valid()) {
    return cannot_use_probes(events_file, errno);
  }
  ProbeGroup created;
  created.events_file_ = events_file;
  created.write_ = write;
  created.root_ = tracing_directory;
  created.group_ = group;
  created.kept_open_ = std::move(fd);
  created.owner_ = ::getpid();
  return created;
}

ProbeGroup::ProbeGroup(ProbeGroup&& other) noexcept
    : write_(other.write_),
      root_(std::move(other.root_)),
      events_file_(std::move(other.events_file_)),
      group_(std::move(other.group_)),
      events_(std::exchange(other.events_, {})),
      kept_open_(std::move(other.kept_open_)),
      owner_(other.owner_) {}

ProbeGroup& ProbeGroup::operator=(ProbeGroup&& other) noexcept {
  std::swap(write_, other.write_);
  std::swap(root_, other.root_);
  std::swap(events_file_, other.events_file_);
  std::swap(group_, other.group_);
  std::swap(events_, other.events_);
  std::swap(kept_open_, other.kept_open_);
  std::swap(owner_, other.owner_);
  return *this;
}

ProbeGroup::~ProbeGroup() {
  if (const auto removed = remove(); !removed.ok()) {
    warn(describe(removed.error()) + "; " + removed.error().hint);
  }
}

Result<DefinedProbe> ProbeGroup::define(const ProbeDefinition& definition) {
  const NamedPath path = name_for_kernel(definition.path);
  const std::string event = probe_event_name(definition.event, taken_names());
  const std::string command = probe_command(definition, path.text, group_ + "/" + event);
  if (const int failed = write_(events_file_, command); failed != 0) {
    return refused(definition, command, failed);
  }
  events_.push_back(event);
  const TracepointFiles files(root_);
  DefinedProbe probe{.name = group_ + ":" + event};
  auto text = files.event_format_text(probe.name);
  const auto id = files.event_id(probe.name);
  if (!text.ok() || !id.ok()) {
    return text.ok() ? id.error() : text.error();
  }
  probe.id = id.value();
  probe.format_text = text.take();
  return probe;
}

Result<> ProbeGroup::add_place(const DefinedProbe& event, const ProbeDefinition& definition) {
  const NamedPath path = name_for_kernel(definition.path);
  const std::string name = event.name.substr(event.name.find(':') + 1);
  const std::string command = probe_command(definition, path.text, group_ + "/" + name);
  if (const int failed = write_(events_file_, command); failed != 0) {
    return refused(definition, command, failed);
  }
  return kDone;
}

bool ProbeGroup::can_share() {
  const ListedProbe probe{.group = group_, .event = probe_event_name("try", taken_names())};
  const std::string name = group_ + "/" + probe.event;
  bool defined = true;
  for (const std::uint64_t offset : {0U, 16U}) {
    const ProbeDefinition definition{.file_offset = offset, .args = "number=\\1:u32"};
    defined =
        defined && write_(events_file_, probe_command(definition, "/proc/self/exe", name)) == 0;
  }
  const auto listed = read_file(events_file_);
  const auto all = listed.ok() ? parse_probe_list(listed.value()) : std::vector<ListedProbe>();
  const auto places = std::ranges::count_if(all, [&probe](const ListedProbe& one) {
    return one.group == probe.group && one.event == probe.event;
  });
  return remove_probe(events_file_, probe, kBusyTries, write_) == 0 && defined && places == 2;
}

// Before it is enabled nobody looks at the place: any file and offset will do.
bool ProbeGroup::accepts(const std::string& args) {
  const ListedProbe probe{.group = group_, .event = probe_event_name("try", taken_names())};
  const ProbeDefinition definition{.args = args};
  const std::string command =
      probe_command(definition, "/proc/self/exe", group_ + "/" + probe.event);
  return write_(events_file_, command) == 0 &&
         remove_probe(events_file_, probe, kBusyTries, write_) == 0;
}

Result<> ProbeGroup::remove() {
  Result<> result = kDone;
  if (owner_ != ::getpid()) {
    events_.clear();
  }
  for (const std::string& event : std::exchange(events_, {})) {
    if (const int failed = remove_probe(events_file_, {group_, event}, kBusyTries, write_);
        failed != 0) {
      result =
          Error{"removing the probe " + group_ + ":" + event,
                failed,
                failed == EBUSY ? "something still uses it; the next run of memtrace removes it"
                                : "the next run of memtrace removes it"};
    }
  }
  return result;
}

// Also what is left of a process that died and had our pid: with the same name the kernel would
// replace it (before 5.4) or hit both at once.
std::vector<std::string> ProbeGroup::taken_names() const {
  std::vector<std::string> taken = events_;
  if (const auto listing = list_directory(root_ + "/events/" + group_); listing.ok()) {
    taken.insert(taken.end(), listing.value().begin(), listing.value().end());
  }
  return taken;
}

Error ProbeGroup::refused(const ProbeDefinition& definition,
                          const std::string& command,
                          int errno_value) const {
  const bool is_forbidden = errno_value == EPERM || errno_value == EACCES;
  if (is_forbidden) {
    return cannot_use_probes(events_file_, errno_value);
  }
  const auto log = read_file(root_ + "/error_log");
  const std::string reason = log.ok() ? find_probe_error(log.value(), command) : "";
  if (!definition.kernel_function.empty()) {
    return Error{"defining a kprobe on " + definition.kernel_function +
                     (reason.empty() ? "" : ": the kernel says: " + reason),
                 errno_value,
                 "the kernel does not allow a probe on this function, or not with these arguments"};
  }
  return Error{fmt::format("defining a probe on {}+0x{:x} ({}){}{}",
                           definition.path,
                           definition.file_offset,
                           definition.event,
                           reason.empty() ? "" : ": the kernel says: ",
                           reason),
               errno_value,
               hint_for(definition, errno_value)};
}

}  // namespace memtrace
