// Names of files of which events have the device and the inode alone: from mappings, and from what
// was read of open files while recording (observe/files/file_watch.h).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace memtrace {

struct Facts;
struct MemoryArea;
class World;

// A file as the kernel identifies it.
struct FileId {
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint64_t inode = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler itself compares the result with 0.
  friend auto operator<=>(const FileId&, const FileId&) = default;
};

// "device 254:0 inode 9".
std::string describe(const FileId& id);

// Of an event that has its device as "254:0"; none for a file system that is on no block device.
std::optional<FileId> file_on(std::string_view device, std::uint64_t inode);

class FileNames {
 public:
  // Of all that the world knows by now.
  explicit FileNames(const World& world);

  // The path; a file that has no known name goes by its device and inode.
  std::string of(const FileId& id) const;

 private:
  void add_open_files(const World& world);
  void add_open_file(const Facts& row);
  void add_mapped_files(const World& world);
  void add_mapped_file(const MemoryArea& area, const World& world);
  void add_modules(const World& world);

  std::map<FileId, std::string> names_;
};

}  // namespace memtrace
