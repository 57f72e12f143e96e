// Names of files by device and inode on this machine: of open files from /proc/PID/fd, of others
// from the kernel's dentry cache.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "observe/files/ext_mounts.h"
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
  explicit InodeNames(const std::string& proc) : proc_(proc), mounts_(proc) {}

  // A file system that is not mounted here is looked for where the process sees it. "" when the
  // name is not known.
  std::string of(const FileId& id, std::uint32_t pid);

 private:
  std::string mount_point(const FileId& id, std::uint32_t pid);

  std::string proc_;
  ExtMounts mounts_;
};

}  // namespace memtrace
