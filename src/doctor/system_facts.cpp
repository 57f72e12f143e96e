// The doctor's facts about the system: read from /proc and /sys.
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>

#include "base/text.h"
#include "base/units.h"
#include "doctor/facts.h"
#include "observe/kernel_config.h"
#include "os/capabilities.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr std::string_view kUnknown = "not known";

std::string file_text_of(const std::string& path, std::string_view fallback = kUnknown) {
  const auto text = read_file(path);
  return text.ok() ? std::string(trim(text.value())) : std::string(fallback);
}

Fact kernel() {
  return {FactId::Kernel, machine_name().kernel_release + " " + machine_name().architecture, ""};
}

Fact distribution() {
  const std::string text = file_text_of("/etc/os-release", "");
  for (const std::string_view line : split(text, '\n')) {
    constexpr std::string_view kName = "PRETTY_NAME=";
    if (line.starts_with(kName)) {
      std::string value(line.substr(kName.size()));
      std::erase(value, '"');
      return {FactId::Distribution, value, ""};
    }
  }
  return {FactId::Distribution, file_text_of("/etc/redhat-release"), ""};
}

Fact build_configuration() {
  const KernelConfig config = KernelConfig::of_machine();
  if (!config.is_known()) {
    return {FactId::Configuration, "not readable", ""};
  }
  const std::vector<std::string> missing = config.lacking();
  return {FactId::Configuration,
          (missing.empty() ? "all that is needed" : "without " + join(missing, ", ")) +
              std::string(", by ") + config.path(),
          missing.empty() ? "" : "what depends on them needs a kernel built with them"};
}

Fact user() {
  const bool is_root = ::geteuid() == 0;
  return {FactId::User,
          is_root ? "root" : fmt::format("uid {}", ::geteuid()),
          is_root ? "" : "run memtrace as root: tracepoints and other users' processes need it"};
}

Fact capabilities() {
  const auto held = held_capabilities(file_text_of("/proc/self/status", ""));
  const auto has = [&held](std::string_view name) {
    return std::find(held.begin(), held.end(), name) != held.end();
  };
  const bool enough = has("CAP_SYS_ADMIN") || has("CAP_PERFMON");
  return {FactId::Capabilities,
          held.empty() ? "none that matter" : join(held, ", "),
          enough
              ? ""
              : "CAP_PERFMON (Linux 5.8) or CAP_SYS_ADMIN is needed for more than page faults of "
                "your own processes"};
}

Fact paranoid() {
  const std::string level = file_text_of("/proc/sys/kernel/perf_event_paranoid", "");
  if (level.empty()) {
    return {
        FactId::Paranoid, "no such file", "this kernel has no perf events, or shows no sysctls"};
  }
  const bool restricts = ::geteuid() != 0 && level != "-1";
  return {FactId::Paranoid,
          level,
          restricts ? "as root: sysctl kernel.perf_event_paranoid=-1 lets every user trace" : ""};
}

Fact kernel_addresses() {
  const std::string level = file_text_of("/proc/sys/kernel/kptr_restrict");
  const bool hidden = level == "2" || (level == "1" && ::geteuid() != 0);
  return {FactId::KernelAddresses,
          level,
          hidden ? "kernel functions have no names: sysctl kernel.kptr_restrict=1, and run as root"
                 : ""};
}

Fact locked_memory() {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  const std::string own =
      limit.rlim_cur == RLIM_INFINITY ? "unlimited" : print_bytes(limit.rlim_cur);
  return {FactId::LockedMemory,
          "kernel.perf_event_mlock_kb " + file_text_of("/proc/sys/kernel/perf_event_mlock_kb") +
              " for each CPU, ulimit -l " + own,
          ""};
}

Fact stack_depth() {
  return {FactId::StackDepth,
          file_text_of("/proc/sys/kernel/perf_event_max_stack", "no such file: 127 frames"),
          ""};
}

Fact lockdown() {
  const std::string mode = lockdown_mode(file_text_of("/sys/kernel/security/lockdown", ""));
  const bool hides_all = mode == "confidentiality";
  return {FactId::Lockdown,
          mode.empty() ? "not in this kernel, or not shown" : mode,
          hides_all
              ? "hides all tracepoints; page faults, malloc and leaks work without them. Boot "
                "without lockdown=confidentiality for the other views"
              : ""};
}

Fact security_modules() {
  std::vector<std::string> active;
  const std::string enforcing = file_text_of("/sys/fs/selinux/enforce", "");
  if (!enforcing.empty()) {
    active.emplace_back(enforcing == "1" ? "SELinux enforcing" : "SELinux permissive");
  }
  if (file_text_of("/sys/module/apparmor/parameters/enabled", "N") == "Y") {
    active.emplace_back("AppArmor");
  }
  return {FactId::SecurityModules,
          active.empty() ? "neither SELinux nor AppArmor" : join(active, ", "),
          ""};
}

Fact container() {
  const std::string name = container_of({.init_environment = file_text_of("/proc/1/environ", ""),
                                         .init_cgroup = file_text_of("/proc/1/cgroup", ""),
                                         .has_docker_mark = path_exists("/.dockerenv"),
                                         .has_podman_mark = path_exists("/run/.containerenv")});
  return {FactId::Container,
          name.empty() ? "none" : name,
          name.empty() ? "" : "pids are the container's own: run memtrace on the host to see all"};
}

}  // namespace

std::string_view name_of(FactId id) {
  constexpr std::array<std::string_view, 17> kNames = {"kernel",
                                                       "distribution",
                                                       "kernel configuration",
                                                       "user",
                                                       "capabilities",
                                                       "kernel.perf_event_paranoid",
                                                       "kernel.kptr_restrict",
                                                       "memory for rings",
                                                       "kernel.perf_event_max_stack",
                                                       "lockdown",
                                                       "security modules",
                                                       "container",
                                                       "tracing directory",
                                                       "perf_event_open",
                                                       "user probes",
                                                       "kprobes",
                                                       "events"};
  return kNames[static_cast<std::size_t>(id)];
}

std::string lockdown_mode(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  return open == std::string_view::npos || close == std::string_view::npos || close < open
             ? std::string()
             : std::string(text.substr(open + 1, close - open - 1));
}

std::string container_of(const ContainerSigns& signs) {
  for (const std::string_view variable : split(signs.init_environment, '\0')) {
    constexpr std::string_view kContainer = "container=";  // systemd's convention
    if (variable.starts_with(kContainer)) {
      return std::string(variable.substr(kContainer.size()));
    }
  }
  if (signs.has_podman_mark) {
    return "podman";
  }
  if (signs.has_docker_mark || signs.init_cgroup.find("/docker") != std::string::npos) {
    return "docker";
  }
  return signs.init_cgroup.find("/lxc") != std::string::npos ? "lxc" : "";
}

std::vector<Fact> system_facts() {
  return {kernel(),
          distribution(),
          build_configuration(),
          user(),
          capabilities(),
          paranoid(),
          kernel_addresses(),
          locked_memory(),
          stack_depth(),
          lockdown(),
          security_modules(),
          container()};
}

}  // namespace memtrace
