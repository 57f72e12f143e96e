// Files on tmpfs and what memory they hold. The kernel has no event for a page that enters such a
// file, so that their sizes before and after show which have grown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "observe/files/mounts.h"
#include "state/world/file_names.h"
#include "state/world/observations.h"

namespace memtrace {

class TmpfsFiles {
 public:
  explicit TmpfsFiles(std::string mountinfo) : mountinfo_(std::move(mountinfo)) {}

  // Reads all sizes: growth counts from here.
  void begin();

  bool has_begun() const { return has_begun_; }

  // The files that have grown since begin() or the last call, the largest growth first, as rows
  // (path, bytes, grown).
  Observation take_growth();

  static constexpr std::size_t kMaxFiles = 50'000;  // looked at
  static constexpr std::size_t kMaxGrown = 100;     // in an observation

 private:
  struct Size {
    std::string path;
    std::uint64_t bytes = 0;
  };

  using Sizes = std::map<FileId, Size>;

  Sizes read() const;
  static void read_mount(const Mount& mount, Sizes& sizes);

  std::string mountinfo_;
  std::map<FileId, std::uint64_t> before_;
  bool has_begun_ = false;
};

}  // namespace memtrace
