#include "os/capabilities.h"

#include <array>

#include "base/text.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace {

// Numbers: include/uapi/linux/capability.h.
std::vector<std::string> held_capabilities(std::string_view status) {
  struct Capability {
    unsigned bit;
    std::string_view name;
  };

  constexpr auto kCapabilities = std::to_array<Capability>({{21, "CAP_SYS_ADMIN"},
                                                            {38, "CAP_PERFMON"},
                                                            {19, "CAP_SYS_PTRACE"},
                                                            {34, "CAP_SYSLOG"},
                                                            {14, "CAP_IPC_LOCK"},
                                                            {2, "CAP_DAC_READ_SEARCH"}});
  std::vector<std::string> held;
  const std::uint64_t mask = parse_number(proc_field(status, "CapEff"), 16).value_or(0);
  for (const Capability& capability : kCapabilities) {
    if ((mask >> capability.bit & 1U) != 0) {
      held.emplace_back(capability.name);
    }
  }
  return held;
}

std::vector<std::string> own_capabilities() {
  const auto status = read_file("/proc/self/status");
  return held_capabilities(status.ok() ? status.value() : "");
}

}  // namespace memtrace
