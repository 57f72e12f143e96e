// User probes that never fired, and why that may be.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "perf/event/event_set.h"

namespace memtrace {

bool is_on_tmpfs(const std::string& path);

// Kernels before 4.4, and RHEL 7's, take a probe on a file of a tmpfs without an error and never
// run into it: the instruction is read by the file system's readpage(), which tmpfs has none of
// (__copy_insn(), kernel/events/uprobes.c), when a process maps the file, and that error goes
// nowhere. Only the missing hits show it.
class SilentProbes {
 public:
  void saw(std::size_t event) {
    if (event >= seen_.size()) {
      seen_.resize(event + 1);
    }
    seen_[event] = true;
  }

  // A sentence for each file of a tmpfs all of whose probes were silent.
  std::vector<std::string> notes(
      const std::vector<OpenedEvent>& events,
      const std::function<bool(const std::string&)>& is_affected = is_on_tmpfs) const;

 private:
  std::vector<bool> seen_;
};

}  // namespace memtrace
