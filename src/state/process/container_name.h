// What a cgroup's path says to people: the container that a process is in, or the systemd unit.
#pragma once

#include <string>
#include <string_view>

namespace memtrace {

// "docker:0123456789ab", "podman:...", "containerd:...", "cri-o:...", "kubepods:...", "lxc:NAME",
// "machine:NAME"; where there is no container the systemd unit ("ssh.service", "user.slice"), or
// else the path itself. The innermost counts. Ids are cut to the 12 digits that docker ps shows.
std::string container_name(std::string_view cgroup_path);

// The systemd unit that a process belongs to: "ssh.service", "session-2.scope"; of a service of a
// user its manager, "user@1000.service". Processes in a slice alone have the slice. "" where there
// is no unit in the path.
std::string unit_name(std::string_view cgroup_path);

}  // namespace memtrace
