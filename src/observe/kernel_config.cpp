#include "observe/kernel_config.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/gzip.h"
#include "os/system.h"

namespace memtrace {
namespace {

struct Dependence {
  std::string_view events;  // their names begin so
  std::string_view option;
};

// Where the kernel defines the events, and what that is built by: mm/Makefile, mm/vmscan.c,
// kernel/trace/Kconfig. What all events need comes last.
constexpr auto kDependences = std::to_array<Dependence>({
    {"kprobe:", "CONFIG_KPROBE_EVENTS"},
    {"heap:", "CONFIG_UPROBE_EVENTS"},
    {"uprobe:", "CONFIG_UPROBE_EVENTS"},
    {"sdt:", "CONFIG_UPROBE_EVENTS"},
    {"syscalls:", "CONFIG_FTRACE_SYSCALLS"},
    {"vmscan:mm_vmscan_memcg_", "CONFIG_MEMCG"},
    {"vmscan:mm_vmscan_node_reclaim_", "CONFIG_NUMA"},
    {"compaction:", "CONFIG_COMPACTION"},
    {"migrate:", "CONFIG_MIGRATION"},
    {"huge_memory:", "CONFIG_TRANSPARENT_HUGEPAGE"},
    {"sched:sched_move_numa", "CONFIG_NUMA_BALANCING"},
    {"kprobe:hugetlb_fault", "CONFIG_HUGETLBFS"},
    {"kprobe:swap_read", "CONFIG_SWAP"},
    {"", "CONFIG_EVENT_TRACING"},
    {"", "CONFIG_PERF_EVENTS"},
});

// What options were called before they were renamed, in 4.11 and 3.6.
constexpr auto kFormerNames = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"CONFIG_KPROBE_EVENTS", "CONFIG_KPROBE_EVENT"},
    {"CONFIG_UPROBE_EVENTS", "CONFIG_UPROBE_EVENT"},
    {"CONFIG_MEMCG", "CONFIG_CGROUP_MEM_RES_CTLR"},
});

bool is_set(std::string_view option, std::string_view text) {
  const std::string line = "\n" + std::string(option) + "=";
  const std::size_t at = text.find(line);
  const char value = at == std::string_view::npos ? 'n' : text[at + line.size()];
  return value == 'y' || value == 'm';
}

bool is_software(std::string_view event) {
  return event.find(':') == std::string_view::npos;
}

}  // namespace

KernelConfig KernelConfig::read(std::span<const std::string> paths) {
  KernelConfig config;
  for (const std::string& path : paths) {
    auto text = read_file(path);
    if (text.ok() && path.ends_with(".gz")) {
      text = gunzip(text.value());
    }
    if (text.ok() && !text.value().empty()) {
      config.text_ = "\n" + text.take();
      config.path_ = path;
      break;
    }
  }
  return config;
}

// The kernel's own (CONFIG_IKCONFIG_PROC), then where distributions put it.
KernelConfig KernelConfig::of_machine() {
  utsname name{};
  ::uname(&name);
  const std::string release = static_cast<const char*>(name.release);
  return read(std::array<std::string, 4>{"/proc/config.gz",
                                         "/boot/config-" + release,
                                         "/lib/modules/" + release + "/config",
                                         "/usr/lib/modules/" + release + "/config"});
}

bool KernelConfig::has(std::string_view option) const {
  return is_set(option, text_) || std::ranges::any_of(kFormerNames, [&](const auto& names) {
           return names.first == option && is_set(names.second, text_);
         });
}

std::vector<std::string> KernelConfig::lacking() const {
  std::vector<std::string> options;
  for (const Dependence& one : kDependences) {
    if (lacks(one.option) && std::ranges::find(options, one.option) == options.end()) {
      options.emplace_back(one.option);
    }
  }
  return options;
}

std::string KernelConfig::reason_against(std::string_view event) const {
  for (const Dependence& one : kDependences) {
    const bool concerns = event.starts_with(one.events) &&
                          (!is_software(event) || one.option == "CONFIG_PERF_EVENTS");
    if (concerns && lacks(one.option)) {
      return "this kernel was built without " + std::string(one.option);
    }
  }
  return "";
}

}  // namespace memtrace
