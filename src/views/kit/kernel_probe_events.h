// Events of probes on functions of the kernel: by record --kprobes, and by perf probe.
#pragma once

#include <string_view>

#include "tracepoints/event/event.h"

namespace memtrace {

// perf's group of probes is "probe" unless the user names another.
inline bool is_kernel_probe(const EventType& type, std::string_view function) {
  const std::string_view name = type.name;
  const std::size_t colon = name.find(':');
  const bool is_probe = name.starts_with("memtrace_kernel_") || name.starts_with("probe:");
  return is_probe && name.substr(colon + 1) == function;
}

}  // namespace memtrace
