#include "symbolize/elf/load_layout.h"

namespace memtrace {

std::optional<std::uint64_t> file_offset_of(const ElfFile& file, std::uint64_t svma) {
  for (const ElfFile::Segment& segment : file.segments()) {
    if (svma >= segment.svma && svma - segment.svma < segment.file_bytes) {
      return svma - segment.svma + segment.file_offset;
    }
  }
  return std::nullopt;
}

}  // namespace memtrace
