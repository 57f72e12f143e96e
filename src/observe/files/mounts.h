// /proc/PID/mountinfo (proc(5)): which file systems a process sees, and where.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace {

struct Mount {
  std::uint64_t id = 0;  // "mnt_id" of /proc/PID/fdinfo
  // The super block's, as the kernel's events have it; stat(2) of a file on btrfs or overlayfs has
  // another one.
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  bool is_whole = false;  // its root is the root of the file system
  std::string path;
  std::string type;     // "ext4"
  std::string options;  // of the super block: "rw,lowerdir=/a:/b,upperdir=/c"
};

// Lines that are torn or of another format are passed over.
std::vector<Mount> parse_mounts(std::string_view mountinfo);

// The folders that an overlayfs is made of; none of another file system.
std::vector<std::string> overlay_layers(const Mount& mount);

// "mnt_id:\t27" in /proc/PID/fdinfo/FD (since Linux 3.15).
std::optional<std::uint64_t> mount_of_descriptor(std::string_view fdinfo);

}  // namespace memtrace
