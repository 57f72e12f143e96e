// Names of files by device and inode on this machine: of open files from /proc/PID/fd, of others
// from the kernel's dentry cache.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "state/world/file_names.h"

namespace memtrace {

struct NamedFile {
  FileId id;
  std::string path;
};

// The regular files that a process has open, at most `most` of its descriptors. Nothing is opened,
// and no server of a network file system is asked. A file on an overlayfs is given as the file
// below it, whose pages are cached; only where all layers are on one file system is its number
// known.
std::vector<NamedFile> open_files(const std::string& proc, std::uint32_t pid, std::size_t most);

// Files of ext2, ext3 and ext4 by their inode number: those file systems accept a file handle
// without a generation (fs/ext4/super.c, ext4_nfs_get_inode()). Needs CAP_DAC_READ_SEARCH. No
// directory is searched: a file that nobody has looked up lately has no name.
class InodeNames {
 public:
  // `proc`: "/proc".
  explicit InodeNames(std::string proc) : proc_(std::move(proc)) {}

  // A file system that is not mounted here is looked for where the process sees it. "" when the
  // name is not known.
  std::string of(const FileId& id, std::uint32_t pid);

 private:
  using Device = std::pair<std::uint32_t, std::uint32_t>;

  void read_mounts();
  std::string mount_point(const Device& device, std::uint32_t pid) const;

  std::string proc_;
  std::map<Device, std::string> mounts_;  // where the root of an ext file system is mounted
  std::uint64_t read_at_ns_ = 0;
};

// "254:0" to its mount point, for the ext file systems whose root is mounted.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> ext_mounts(
    std::string_view mountinfo);

}  // namespace memtrace
