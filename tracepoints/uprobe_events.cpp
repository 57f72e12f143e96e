#include "tracepoints/uprobe_events.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "base/system.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace memtrace {
namespace {

constexpr std::string_view kPrefix = "memtrace_";
constexpr std::size_t kLongestName = 63;  // kernel/trace/trace_probe.h, MAX_EVENT_NAME_LEN

// 0 or the errno. O_TRUNC would remove the probes of everybody.
int write_line(const TracepointFiles& files, const std::string& line) {
  const UniqueFd fd(
      ::open((files.root() + "/uprobe_events").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!fd.valid()) {
    return errno;
  }
  const ssize_t written = ::write(fd.get(), line.data(), line.size());
  return written == static_cast<ssize_t>(line.size()) ? 0 : errno;
}

// What the kernel said last of a bad definition (5.2+): "[..] trace_uprobe: error: Bad ...".
std::string last_complaint(const TracepointFiles& files) {
  const auto log = read_file(files.root() + "/error_log");
  const std::string text = log.ok() ? log.value() : "";
  const std::size_t start = text.rfind("trace_uprobe: error: ");
  if (start == std::string::npos) {
    return "";
  }
  const std::size_t words = text.find("error: ", start) + 7;
  return text.substr(words, text.find('\n', words) - words);
}

std::string hint_for(int error, const TracepointFiles& files) {
  if (error == ENOENT && !path_exists(files.root() + "/uprobe_events")) {
    return "this kernel has no uprobes (CONFIG_UPROBE_EVENTS), as RHEL 6's";
  }
  if (error == EPERM || error == EACCES) {
    return "run memtrace as root; a kernel that is locked down for confidentiality refuses uprobes "
           "(/sys/kernel/security/lockdown)";
  }
  if (error == ENOENT) {
    return "the file is not there for memtrace: of a process in a container name it as "
           "/proc/PID/root/PATH";
  }
  return error == EINVAL ? last_complaint(files) : "";
}

// An event whose last descriptor was closed is freed a moment later.
int remove_with_patience(const TracepointFiles& files, const std::string& line) {
  constexpr int kTries = 50;
  int error = write_line(files, line);
  for (int i = 0; i < kTries && error == EBUSY; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    error = write_line(files, line);
  }
  return error;
}

// "memtrace_heap_12" -> 12.
std::optional<pid_t> owner_of(std::string_view group) {
  const auto pid =
      group.starts_with(kPrefix) ? parse_number(group.substr(group.rfind('_') + 1)) : std::nullopt;
  return pid ? std::optional(static_cast<pid_t>(*pid)) : std::nullopt;
}

// A live process of that pid may be another one that was given the pid since.
bool is_running_memtrace(pid_t pid) {
  const auto comm = read_file("/proc/" + std::to_string(pid) + "/comm");
  return comm.ok() && comm.value().starts_with("memtrace");
}

bool is_stale(std::string_view group) {
  const auto pid = owner_of(group);
  return pid && *pid != ::getpid() && !is_running_memtrace(*pid);
}

}  // namespace

std::string definition_line(std::string_view group, const ProbeDefinition& probe) {
  std::string line = format("%s:%.*s/%s %s:0x%llx",
                            probe.is_return ? "r" : "p",
                            static_cast<int>(group.size()),
                            group.data(),
                            probe.event.c_str(),
                            probe.path.c_str(),
                            static_cast<unsigned long long>(probe.file_offset));
  if (probe.semaphore_offset != 0) {
    line += format("(0x%llx)", static_cast<unsigned long long>(probe.semaphore_offset));
  }
  return line + (probe.arguments.empty() ? "" : " ") + probe.arguments + "\n";
}

std::string removal_line(std::string_view group, std::string_view event) {
  return "-:" + std::string(group) + "/" + std::string(event) + "\n";
}

ProbeGroup::ProbeGroup(TracepointFiles files, std::string_view prefix)
    : files_(std::move(files)), name_(std::string(prefix) + std::to_string(::getpid())) {}

ProbeGroup::ProbeGroup(ProbeGroup&& other) noexcept
    : files_(std::move(other.files_)),
      name_(std::move(other.name_)),
      events_(std::exchange(other.events_, {})) {}

ProbeGroup::~ProbeGroup() {
  for (const std::string& event : events_) {
    remove_with_patience(files_, removal_line(name_, event));
  }
}

Result<DefinedProbe> ProbeGroup::define(const ProbeDefinition& probe) {
  const int error = write_line(files_, definition_line(name_, probe));
  if (error != 0) {
    return Error{format("defining a probe at %s:0x%llx",
                        probe.path.c_str(),
                        static_cast<unsigned long long>(probe.file_offset)),
                 error,
                 hint_for(error, files_)};
  }
  events_.push_back(probe.event);
  DefinedProbe defined{.name = name_ + ":" + probe.event, .format = {}};
  auto id = files_.event_id(defined.name);
  auto text = files_.event_format_text(defined.name);
  if (!id.ok() || !text.ok()) {
    return id.ok() ? text.take_error() : id.take_error();
  }
  defined.id = id.value();
  defined.format = text.take();
  return defined;
}

std::size_t remove_stale_probes(const TracepointFiles& files) {
  const auto probes = read_file(files.root() + "/uprobe_events");
  const std::string text = probes.ok() ? probes.value() : "";
  std::size_t removed = 0;
  for (const std::string_view line : split(text, '\n')) {
    // "p:memtrace_heap_12/malloc /usr/lib/libc.so.6:0x99d80 size=%di:u64"
    const std::size_t colon = line.find(':');
    const std::size_t slash = line.find('/');
    const std::size_t space = line.find(' ');
    if (colon == std::string_view::npos || slash == std::string_view::npos || space < slash) {
      continue;
    }
    const std::string_view group = line.substr(colon + 1, slash - colon - 1);
    const std::string_view event = line.substr(slash + 1, space - slash - 1);
    if (is_stale(group) && write_line(files, removal_line(group, event)) == 0) {
      ++removed;
    }
  }
  return removed;
}

std::string probe_event_name(std::string_view function) {
  std::string name;
  for (const char letter : function.substr(0, kLongestName - 8)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
    name += plain ? letter : '_';
  }
  const bool is_raw_event =
      name.size() > 1 && name[0] == 'r' &&
      std::all_of(name.begin() + 1, name.end(), [](unsigned char c) { return isxdigit(c) != 0; });
  const bool begins_badly = name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0;
  return is_raw_event || begins_badly ? "_" + name : name;
}

}  // namespace memtrace
