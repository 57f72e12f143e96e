// User probes through tracefs's uprobe_events (Documentation/trace/uprobetracer.rst): each becomes
// an event of a group of our own, with the arguments as its fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tracepoints/tracefs.h"

namespace memtrace {

struct ProbeDefinition {
  std::string event;              // a C identifier, unlike for each probe of a group
  std::string path;               // as this process sees it
  std::uint64_t file_offset = 0;  // not an address
  bool is_return = false;
  std::uint64_t semaphore_offset = 0;  // of an SDT probe, in the file; 0: none
  std::string arguments;               // "size=%di:u64 sp=%sp:u32"
};

struct DefinedProbe {
  std::string name;  // "memtrace_heap_12:malloc"
  std::uint64_t id = 0;
  std::string format;
};

// A group of probes that lives as long as the object. The kernel keeps probes of a program that was
// killed: remove_stale_probes() is for those.
class ProbeGroup {
 public:
  // `prefix` is "memtrace_" or "memtrace_heap_"; this process's pid is added.
  ProbeGroup(TracepointFiles files, std::string_view prefix);
  ProbeGroup(ProbeGroup&& other) noexcept;
  ProbeGroup& operator=(ProbeGroup&&) = delete;
  ProbeGroup(const ProbeGroup&) = delete;
  ProbeGroup& operator=(const ProbeGroup&) = delete;
  ~ProbeGroup();

  // Error: what the kernel has against it, in its own words where it gives them, with a hint.
  Result<DefinedProbe> define(const ProbeDefinition& probe);

  const std::string& name() const { return name_; }

 private:
  TracepointFiles files_;
  std::string name_;
  std::vector<std::string> events_;
};

// The line that defines the probe, and the one that removes it.
std::string definition_line(std::string_view group, const ProbeDefinition& probe);
std::string removal_line(std::string_view group, std::string_view event);

// Removes the groups of memtrace processes that are gone, by the pid in the groups' names. How many
// probes there were; those that another process still has open stay.
std::size_t remove_stale_probes(const TracepointFiles& files);

// "malloc.isra.0" -> "malloc_isra_0": what the kernel takes as an event's name. Never "r1f", which
// perf's parser takes for a raw hardware event.
std::string probe_event_name(std::string_view function);

}  // namespace memtrace
