// Names and texts of user probes in tracefs: pure, and tested without a kernel.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace {

// Kernel: in kprobe_events, the others in uprobe_events.
enum class ProbeKind : std::uint8_t { Events, Heap, Kernel };

inline constexpr std::string_view kKernelGroupStart = "memtrace_kernel_";
inline constexpr std::string_view kPerfProbeGroup =
    "probe";  // perf's own, unless the user names it

// "memtrace_123", "memtrace_heap_123": the owner is known after a crash.
std::string probe_group_name(ProbeKind kind, pid_t pid);

// The group of an event's whole name.
bool is_kernel_probe_name(std::string_view name);

// The pid in a group name of ours; nothing for other people's groups.
std::optional<pid_t> pid_of_probe_group(std::string_view group);

// A name that the kernel and perf take, close to the wanted one: a C identifier of at most 63
// characters, none that perf reads as a raw event (r1, rbeef) or as one of its own (cycles), and
// none of `taken`.
std::string probe_event_name(std::string_view wanted, const std::vector<std::string>& taken);

struct ListedProbe {
  std::string group;
  std::string event;
};

// The content of uprobe_events.
std::vector<ListedProbe> parse_probe_list(std::string_view text);

// What the kernel said last of this command in tracefs's error_log (5.2 and later): "Invalid
// register name", or "" when it said nothing.
std::string find_probe_error(std::string_view error_log, std::string_view command);

// What to say when the kernel refuses to open a defined probe (perf_event_open(2)): only then does
// it read the file's instructions.
std::string uprobe_open_hint(int errno_value);

}  // namespace memtrace
