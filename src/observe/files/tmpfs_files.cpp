#include "observe/files/tmpfs_files.h"

#include <fts.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "os/system.h"

namespace memtrace {
namespace {

struct CloseTree {
  void operator()(FTS* tree) const { ::fts_close(tree); }
};

FileId id_of(const struct stat& file) {
  return {
      .device_major = major(file.st_dev), .device_minor = minor(file.st_dev), .inode = file.st_ino};
}

std::map<FileId, std::uint64_t> bytes_by_file(const auto& sizes) {
  std::map<FileId, std::uint64_t> bytes;
  for (const auto& [id, size] : sizes) {
    bytes[id] = size.bytes;
  }
  return bytes;
}

}  // namespace

// No other file system that is mounted below is entered.
void TmpfsFiles::read_mount(const Mount& mount, Sizes& sizes) {
  std::string path = mount.path;
  const std::array<char*, 2> roots = {path.data(), nullptr};
  const std::unique_ptr<FTS, CloseTree> tree(
      ::fts_open(roots.data(), FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, nullptr));
  if (tree == nullptr) {
    return;
  }
  while (const FTSENT* entry = ::fts_read(tree.get())) {
    if (sizes.size() == kMaxFiles) {
      return;
    }
    if (entry->fts_info != FTS_F && entry->fts_info != FTS_D) {
      continue;
    }
    const FileId id = id_of(*entry->fts_statp);
    if (id.device_major != mount.device_major || id.device_minor != mount.device_minor) {
      return;  // something else is mounted over it
    }
    if (entry->fts_info == FTS_F) {
      constexpr std::uint64_t kBlockBytes = 512;  // stat(2)
      sizes[id] = {entry->fts_path,
                   static_cast<std::uint64_t>(entry->fts_statp->st_blocks) * kBlockBytes};
    }
  }
}

TmpfsFiles::Sizes TmpfsFiles::read() const {
  const auto text = read_file(mountinfo_);
  Sizes sizes;
  for (const Mount& mount : parse_mounts(text.ok() ? text.value() : "")) {
    if (mount.type.ends_with("tmpfs") && mount.is_whole) {
      read_mount(mount, sizes);
    }
  }
  return sizes;
}

void TmpfsFiles::begin() {
  before_ = bytes_by_file(read());
  has_begun_ = true;
}

Observation TmpfsFiles::take_growth() {
  struct Grown {
    const Size* size = nullptr;
    std::uint64_t bytes = 0;
  };

  const Sizes now = read();
  std::vector<Grown> all;
  for (const auto& [id, size] : now) {
    const auto before = before_.find(id);
    const std::uint64_t had = before == before_.end() ? 0 : before->second;
    if (size.bytes > had) {
      all.push_back({&size, size.bytes - had});
    }
  }
  std::ranges::stable_sort(all, std::greater(), &Grown::bytes);
  Observation observation{.reader = "tmpfs"};
  observation.facts.numbers["files"] = all.size();
  all.resize(std::min(all.size(), kMaxGrown));
  for (const Grown& grown : all) {
    observation.rows.push_back({.numbers = {{"bytes", grown.size->bytes}, {"grown", grown.bytes}},
                                .texts = {{"path", grown.size->path}}});
  }
  before_ = bytes_by_file(now);
  return observation;
}

}  // namespace memtrace
