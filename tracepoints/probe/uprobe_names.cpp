#include "tracepoints/probe/uprobe_names.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "base/text.h"

namespace memtrace {
namespace {

// MAX_EVENT_NAME_LEN is 64 with the NUL (kernel/trace/trace.h).
constexpr std::size_t kNameLimitBytes = 63;

constexpr std::string_view kGroupStart = "memtrace_";
constexpr std::string_view kHeapGroupStart = "memtrace_heap_";

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// perf's lexer (tools/perf/util/parse-events.l) knows these words before it looks at tracepoints.
bool is_word_of_perf(std::string_view name) {
  constexpr std::array<std::string_view, 9> kWords = {
      "cycles", "instructions", "branches", "faults", "migrations", "cs", "dummy", "mem", "branch"};
  const bool is_raw = name.size() > 1 && name[0] == 'r' && is_hex(name.substr(1));
  return is_raw || std::find(kWords.begin(), kWords.end(), name) != kWords.end();
}

char as_identifier(char letter) {
  const bool fits = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                    (letter >= '0' && letter <= '9');
  return fits ? letter : '_';
}

}  // namespace

std::string probe_group_name(ProbeKind kind, pid_t pid) {
  std::string_view start = kGroupStart;
  if (kind != ProbeKind::Events) {
    start = kind == ProbeKind::Heap ? kHeapGroupStart : kKernelGroupStart;
  }
  return std::string(start) + std::to_string(pid);
}

std::optional<pid_t> pid_of_probe_group(std::string_view group) {
  if (!group.starts_with(kGroupStart)) {
    return std::nullopt;
  }
  std::string_view number = group.substr(kGroupStart.size());
  for (const std::string_view start : {kHeapGroupStart, kKernelGroupStart}) {
    number = group.starts_with(start) ? group.substr(start.size()) : number;
  }
  const auto pid = parse_number(number);
  const bool is_pid = pid && *pid > 0 && *pid <= std::numeric_limits<pid_t>::max();
  return is_pid ? std::optional(static_cast<pid_t>(*pid)) : std::nullopt;
}

bool is_kernel_probe_name(std::string_view name) {
  const std::string_view group = name.substr(0, name.find(':'));
  return group.starts_with(kKernelGroupStart) || group == kPerfProbeGroup;
}

std::string probe_event_name(std::string_view wanted, const std::vector<std::string>& taken) {
  std::string name(wanted.substr(0, kNameLimitBytes));
  std::transform(name.begin(), name.end(), name.begin(), as_identifier);
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || is_word_of_perf(name)) {
    name.insert(0, "f_");
    name.resize(std::min(name.size(), kNameLimitBytes));
  }
  std::string unique = name;
  for (int number = 2; std::find(taken.begin(), taken.end(), unique) != taken.end(); ++number) {
    const std::string suffix = "_" + std::to_string(number);
    unique = name.substr(0, kNameLimitBytes - suffix.size()) + suffix;
  }
  return unique;
}

std::vector<ListedProbe> parse_probe_list(std::string_view text) {
  std::vector<ListedProbe> probes;
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view head = line.substr(0, line.find(' '));  // "p:group/event"
    const std::size_t colon = head.find(':');
    const std::size_t slash = head.find('/');
    if (colon != std::string_view::npos && slash != std::string_view::npos && colon < slash) {
      probes.push_back({.group = std::string(head.substr(colon + 1, slash - colon - 1)),
                        .event = std::string(head.substr(slash + 1))});
    }
  }
  return probes;
}

// [14548.842537] trace_uprobe: error: Invalid register name
//   Command: p:memtrace_1/malloc /lib/libc.so.6:0x98ef0 size=%dx0:u64
//                                                            ^
std::string find_probe_error(std::string_view error_log, std::string_view command) {
  constexpr std::string_view kError = "error: ";
  constexpr std::string_view kCommand = "Command: ";
  std::string_view reason;
  std::string found;
  for (const std::string_view line : split(error_log, '\n')) {
    const std::string_view trimmed = trim(line);
    if (trimmed.starts_with(kCommand)) {
      found = trimmed.substr(kCommand.size()) == command ? std::string(reason) : found;
    } else if (const auto at = line.find(kError); at != std::string_view::npos) {
      reason = line.substr(at + kError.size());
    }
  }
  return found;
}

std::string uprobe_open_hint(int errno_value) {
  switch (errno_value) {
    case EIO:
      return "the kernel cannot read the file's code where it lies (a filesystem without page "
             "reads, or a file that was cut): copy the program elsewhere and run the copy";
    case ENOTSUP:
    case 524:  // ENOTSUPP, which has no name for programs
      return "the kernel cannot put a probe on the instruction there, or has no uprobes on this "
             "architecture";
    case EINVAL:
      return "the place is not an instruction of mapped code, or its first byte is already a "
             "breakpoint (of a debugger?)";
    default:
      return "";
  }
}

}  // namespace memtrace
