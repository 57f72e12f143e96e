#include "observe/files/open_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstring>
#include <optional>

#include "observe/files/mounts.h"
#include "os/procfs.h"
#include "os/system.h"
#include "os/unique_fd.h"

namespace memtrace {
namespace {

// "" for what is no path: "socket:[4711]", "anon_inode:[eventpoll]", the "/" of a file whose name
// the kernel does not have.
std::string link_path(const std::string& link) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
  return size > 1 && text.front() == '/' ? std::string(text.data(), static_cast<std::size_t>(size))
                                         : std::string();
}

std::optional<FileId> id_behind(const std::string& link) {
  struct statx found = {};
  const bool is_known = ::statx(AT_FDCWD,
                                link.c_str(),
                                AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
                                STATX_TYPE | STATX_INO,
                                &found) == 0;
  if (!is_known || !S_ISREG(found.stx_mode)) {
    return std::nullopt;
  }
  return FileId{.device_major = found.stx_dev_major,
                .device_minor = found.stx_dev_minor,
                .inode = found.stx_ino};
}

bool is_on(int fd, const FileId& id) {
  struct stat found = {};
  return ::fstat(fd, &found) == 0 && major(found.st_dev) == id.device_major &&
         minor(found.st_dev) == id.device_minor;
}

// FILEID_INO32_GEN (include/linux/exportfs.h): an inode and a generation, 0 for any.
UniqueFd open_inode(int mount, std::uint32_t inode) {
  constexpr int kInodeAndGeneration = 1;
  const std::array<std::uint32_t, 2> words = {inode, 0};
  alignas(file_handle) std::array<std::byte, sizeof(file_handle) + sizeof(words)> bytes{};
  auto* handle = reinterpret_cast<file_handle*>(bytes.data());
  handle->handle_bytes = sizeof(words);
  handle->handle_type = kInodeAndGeneration;
  std::memcpy(bytes.data() + sizeof(file_handle), words.data(), sizeof(words));
  return UniqueFd(::open_by_handle_at(mount, handle, O_PATH | O_CLOEXEC));
}

// The device that all layers of an overlayfs are on; nothing where there are several, or where they
// are not to be seen from here.
std::optional<std::pair<std::uint32_t, std::uint32_t>> device_below(const Mount& mount) {
  std::optional<std::pair<std::uint32_t, std::uint32_t>> device;
  for (const std::string& layer : overlay_layers(mount)) {
    struct stat found = {};
    if (::stat(layer.c_str(), &found) != 0) {
      return std::nullopt;
    }
    const std::pair<std::uint32_t, std::uint32_t> one(major(found.st_dev), minor(found.st_dev));
    if (device && *device != one) {
      return std::nullopt;
    }
    device = one;
  }
  return device;
}

// A process's mounts, read when the first of its files needs them.
class MountTable {
 public:
  explicit MountTable(std::string process) : process_(std::move(process)) {}

  // Sets the device that the kernel's events have. Files on disks keep that of stat(2): those of
  // btrfs, overlayfs and the like have one without a disk, whose major number is 0.
  void correct_device(const std::string& descriptor, FileId& id) {
    if (id.device_major != 0) {
      return;
    }
    const auto info = read_file(process_ + "/fdinfo/" + descriptor);
    const auto number = mount_of_descriptor(info.ok() ? info.value() : "");
    if (mounts_.empty()) {
      const auto text = read_file(process_ + "/mountinfo");
      mounts_ = parse_mounts(text.ok() ? text.value() : "");
    }
    const auto mount = number ? std::ranges::find(mounts_, *number, &Mount::id) : mounts_.end();
    if (mount == mounts_.end()) {
      return;
    }
    const auto below = device_below(*mount);
    id.device_major = below ? below->first : mount->device_major;
    id.device_minor = below ? below->second : mount->device_minor;
  }

 private:
  std::string process_;
  std::vector<Mount> mounts_;
};

}  // namespace

std::vector<NamedFile> open_files(const std::string& proc, std::uint32_t pid, std::size_t most) {
  const std::string process = proc + "/" + std::to_string(pid);
  const std::string folder = process + "/fd";
  MountTable mounts(process);
  const auto links = list_directory(folder);
  std::vector<NamedFile> files;
  for (std::size_t i = 0; links.ok() && i < std::min(links.value().size(), most); ++i) {
    const std::string link = folder + "/" + links.value()[i];
    std::string path = link_path(link);
    if (path.empty()) {
      continue;
    }
    if (auto id = id_behind(link)) {
      mounts.correct_device(links.value()[i], *id);
      files.push_back({*id, std::move(path)});
    }
  }
  return files;
}

std::string InodeNames::mount_point(const FileId& id, std::uint32_t pid) {
  const ExtMounts::Device device(id.device_major, id.device_minor);
  const std::uint64_t now_ns = monotonic_ns();
  const auto& own = mounts_.of("self", now_ns);
  if (const auto found = own.find(device); found != own.end()) {
    return found->second;
  }
  const std::string process = std::to_string(pid);
  const auto& theirs = mounts_.of(process, now_ns);
  const auto found = theirs.find(device);
  return found == theirs.end() ? "" : proc_ + "/" + process + "/root" + found->second;
}

std::string InodeNames::of(const FileId& id, std::uint32_t pid) {
  if (id.inode == 0 || id.inode > UINT32_MAX) {
    return "";
  }
  const std::string point = mount_point(id, pid);
  if (point.empty()) {
    return "";
  }
  // Not kept open: an open directory would keep the file system from being unmounted.
  const UniqueFd mount(::open(point.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!mount.valid() || !is_on(mount.get(), id)) {
    return "";
  }
  const UniqueFd file = open_inode(mount.get(), static_cast<std::uint32_t>(id.inode));
  return file.valid() ? link_path("/proc/self/fd/" + std::to_string(file.get())) : "";
}

}  // namespace memtrace
