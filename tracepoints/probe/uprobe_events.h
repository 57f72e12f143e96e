// User probes by tracefs's uprobe_events (Linux 3.5, RHEL 7), in a group of our own that is removed
// at the end, and by the next run after a crash. Other people's probes are never touched.
//
// Not by libtracefs's dynamic events: tracefs_uprobe_alloc() takes no semaphore of an SDT probe,
// tracefs_dynevent_create() writes only to the one directory that libtracefs finds itself, and
// tracefs_error_last() gives the newest error of anybody's command, not ours.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/unique_fd.h"
#include "tracepoints/probe/uprobe_names.h"

namespace memtrace {

struct ProbeDefinition {
  std::string event;  // the wanted name; the kernel gets one like it
  std::string path;   // as memtrace sees it: /proc/PID/root/... for another mount namespace
  std::uint64_t file_offset = 0;
  bool is_return = false;
  std::uint64_t ref_ctr_offset = 0;  // file offset of an SDT probe's semaphore; 0: none
  std::string args;                  // "size=%di:u64 sp=%sp:u32"
  std::string kernel_function = {};  // in place of a file and an offset: for kprobe_events
};

struct DefinedProbe {
  std::string name;  // "memtrace_heap_123:malloc"
  std::uint64_t id = 0;
  std::string format_text;  // for parse_format()
};

// Where the probes of a group are defined: uprobe_events, or kprobe_events.
std::string probe_events_file(const std::string& root, std::string_view group = {});

// What to say when it cannot be opened.
Error cannot_use_probes(const std::string& events_file, int errno_value);

// Gives a line to uprobe_events or kprobe_events: 0 or errno.
using WriteProbeCommand = int (*)(const std::string& events_file, const std::string& command);

int write_probe_command(const std::string& events_file, const std::string& command);

// 0 or errno: EBUSY when it is still in use after this many tries.
int remove_probe(const std::string& events_file,
                 const ListedProbe& probe,
                 int tries,
                 WriteProbeCommand write = &write_probe_command);

// How a definition is written: "p:memtrace_1/malloc /lib/libc.so.6:0x98ef0 size=%di:u64".
std::string probe_command(const ProbeDefinition& definition,
                          const std::string& path,
                          const std::string& full_name);

class ProbeGroup {
 public:
  // Error: no uprobe_events in this kernel, not root, locked down; each with its remedy.
  static Result<ProbeGroup> create(ProbeKind kind);

  // In any directory of tracefs's shape; kprobes if the group is named so.
  static Result<ProbeGroup> create_in(const std::string& tracing_directory,
                                      const std::string& group,
                                      WriteProbeCommand write = &write_probe_command);

  ProbeGroup(ProbeGroup&& other) noexcept;
  ProbeGroup& operator=(ProbeGroup&& other) noexcept;
  ProbeGroup(const ProbeGroup&) = delete;
  ProbeGroup& operator=(const ProbeGroup&) = delete;
  ~ProbeGroup();

  const std::string& name() const { return group_; }

  // Error: the file cannot be seen or probed, the kernel refuses the definition (its own words).
  Result<DefinedProbe> define(const ProbeDefinition& definition);

  // One more place for an event that define() made: the same number of arguments, of the same names
  // and types. Before the event is opened.
  Result<> add_place(const DefinedProbe& event, const ProbeDefinition& definition);

  // Whether the kernel has events of several places (5.4; before, the second definition takes the
  // first one's place), and arguments that are numbers: tried.
  bool can_share();

  // Whether the kernel takes such arguments: tried with a definition that is removed at once.
  bool accepts(const std::string& args);

  // Removes all that define() made; close their perf events before. Error: one is still in use;
  // the others are gone then.
  Result<> remove();

 private:
  ProbeGroup() = default;

  Error refused(const ProbeDefinition& definition,
                const std::string& command,
                int errno_value) const;
  std::vector<std::string> taken_names() const;

  WriteProbeCommand write_ = &write_probe_command;
  std::string root_;
  std::string events_file_;
  std::string group_;
  std::vector<std::string> events_;
  UniqueFd kept_open_;  // shows others that this process has probes
  pid_t owner_ = 0;     // a forked child must not remove what its parent uses
};

}  // namespace memtrace
