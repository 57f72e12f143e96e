// What of this machine decides what memtrace can trace on it. Everything is read or tried with
// events that never fire; nothing is changed, not even tracefs mounted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memtrace {

enum class FactId : std::uint8_t {
  Kernel,
  Distribution,
  Configuration,
  User,
  Capabilities,
  Paranoid,
  KernelAddresses,
  LockedMemory,
  StackDepth,
  Lockdown,
  SecurityModules,
  Container,
  TracingDirectory,
  PerfEvents,
  UserProbes,
  Kprobes,
  Events,
};

// "kernel.perf_event_paranoid", "user probes".
std::string_view name_of(FactId id);

struct Fact {
  FactId id = FactId::Kernel;
  std::string value;
  std::string advice;          // what to do about it, "" when it is as it should be
  bool stands_in_way = false;  // nothing can be traced that rests on it
};

// Kernel, distribution, user, capabilities, sysctls, limits, security modules, container.
std::vector<Fact> system_facts();

// tracefs, perf_event_open(2) and what it accepts, user probes by either door, kprobes.
std::vector<Fact> tracing_facts();

Fact user_probes_fact();

// Parts of the above, of texts in the shape of the kernel's files.

// "none", "integrity", "confidentiality" of /sys/kernel/security/lockdown: "none [integrity] ...".
std::string lockdown_mode(std::string_view text);

// "docker", "podman", "lxc", "container": what /proc/1/environ, /proc/1/cgroup and the marks of
// container tools say; "" for none.
struct ContainerSigns {
  std::string init_environment;  // NULs between variables
  std::string init_cgroup;
  bool has_docker_mark = false;  // /.dockerenv
  bool has_podman_mark = false;  // /run/.containerenv
};

std::string container_of(const ContainerSigns& signs);

}  // namespace memtrace
