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

#include "base/text.h"
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

}  // namespace

std::vector<NamedFile> open_files(const std::string& proc, std::uint32_t pid, std::size_t most) {
  const std::string folder = proc + "/" + std::to_string(pid) + "/fd";
  const auto links = list_directory(folder);
  std::vector<NamedFile> files;
  for (std::size_t i = 0; links.ok() && i < std::min(links.value().size(), most); ++i) {
    const std::string link = folder + "/" + links.value()[i];
    std::string path = link_path(link);
    if (path.empty()) {
      continue;
    }
    if (const auto id = id_behind(link)) {
      files.push_back({*id, std::move(path)});
    }
  }
  return files;
}

// "27 1 254:0 / /mnt\040point rw,relatime shared:1 - ext4 /dev/vda rw" (proc(5)).
std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> parse_ext_mounts(
    std::string_view mountinfo) {
  constexpr std::size_t kLeastWords = 5;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> mounts;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const auto words = proc_words(line);
    const auto separator = std::ranges::find(words, "-");
    if (words.size() < kLeastWords || separator == words.end() || separator + 1 == words.end() ||
        !(separator + 1)->starts_with("ext") || words[3] != "/") {
      continue;
    }
    const auto device = split(words[2], ':');
    const auto major = parse_number(device.front());
    const auto minor = parse_number(device.back());
    if (device.size() == 2 && major && minor) {
      mounts.try_emplace({static_cast<std::uint32_t>(*major), static_cast<std::uint32_t>(*minor)},
                         words[4]);
    }
  }
  return mounts;
}

void InodeNames::read_mounts() {
  const auto text = read_file(mountinfo_);
  mounts_ = parse_ext_mounts(text.ok() ? text.value() : "");
  read_at_ns_ = monotonic_ns();
}

std::string InodeNames::of(const FileId& id) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  if (read_at_ns_ == 0 || monotonic_ns() - read_at_ns_ > kSecondNs) {
    read_mounts();
  }
  const auto found = mounts_.find({id.device_major, id.device_minor});
  if (found == mounts_.end() || id.inode == 0 || id.inode > UINT32_MAX) {
    return "";
  }
  // Not kept open: an open directory would keep the file system from being unmounted.
  const UniqueFd mount(::open(found->second.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!mount.valid() || !is_on(mount.get(), id)) {
    return "";
  }
  const UniqueFd file = open_inode(mount.get(), static_cast<std::uint32_t>(id.inode));
  return file.valid() ? link_path("/proc/self/fd/" + std::to_string(file.get())) : "";
}

}  // namespace memtrace
