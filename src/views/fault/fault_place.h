// What is at the address of a page fault.
#pragma once

#include <compare>
#include <cstdint>

#include "base/ids.h"
#include "state/world/world.h"

namespace memtrace {

// Unknown: the recording does not hold the mappings of processes.
enum class PlaceKind : std::uint8_t {
  Unknown,
  Unmapped,
  File,
  Heap,
  Stack,
  Anonymous,
  SharedMemory,
  Hugetlb,
  Special,  // vdso and its like
};

// A file as the kernel identifies it.
struct FileId {
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint64_t inode = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler itself compares the result with 0.
  friend auto operator<=>(const FileId&, const FileId&) = default;
};

struct FaultPlace {
  PlaceKind kind = PlaceKind::Unknown;
  bool is_private = true;
  StringId file;  // its path
  FileId file_id;
  std::uint64_t file_offset = 0;  // of the address

  bool is_known() const { return kind != PlaceKind::Unknown && kind != PlaceKind::Unmapped; }

  // Private memory without a file behind it.
  bool is_anonymous() const {
    return kind == PlaceKind::Heap || kind == PlaceKind::Stack || kind == PlaceKind::Anonymous;
  }
};

// False when the recording does not hold the mappings of data.
bool knows_places(const World& world);

// The path of a file that the process has mapped; none when it has not.
StringId mapped_name(const World& world, std::uint32_t pid, const FileId& id);

FaultPlace place_of(const World& world, std::uint32_t pid, std::uint64_t address);

}  // namespace memtrace
