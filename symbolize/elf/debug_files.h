// Where the symbols and DWARF of a stripped file were put: by build id, or by the name in its
// .gnu_debuglink (gdb's manual, "Debugging Information in Separate Files").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "symbolize/elf/elf_file.h"

namespace memtrace {

struct DebugPlaces {
  std::string debug_directory;            // "/usr/lib/debug"
  std::vector<std::string> roots = {""};  // of mount namespaces: "/proc/PID/root", ""
};

// <debug_directory>/.build-id/ab/cdef.debug.
std::optional<ElfFile> find_debug_file_by_build_id(const std::string& build_id,
                                                   const DebugPlaces& places);

// The debug file of this file, which its process knows as `mapped_path`.
std::optional<ElfFile> find_debug_file(const ElfFile& file,
                                       const std::string& mapped_path,
                                       const DebugPlaces& places);

// The checksum that .gnu_debuglink carries: CRC-32 as of zlib.
std::uint32_t crc32(std::span<const std::byte> bytes);

}  // namespace memtrace
