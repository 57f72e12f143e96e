#include "views/mapping/mapped_files.h"

#include <string>

#include "views/kit/cells.h"

namespace memtrace {
namespace {

// Above all ids of strings.
constexpr std::uint64_t kNoPath = std::uint64_t{1} << 32U;

}  // namespace

std::uint64_t mapped_file_word(const MemoryArea& area) {
  if (area.path.valid()) {
    return area.path.value;
  }
  // A file without a path: the recording has no record of the mapping.
  return area.kind == AreaKind::File ? 0 : kNoPath + static_cast<std::uint64_t>(area.kind);
}

Cell mapped_file_cell(std::uint64_t word, const CellContext& context) {
  if (word == 0) {
    return {};
  }
  if (word >= kNoPath) {
    return "[" + std::string(name_of(static_cast<AreaKind>(word - kNoPath))) + "]";
  }
  return cell_of(context.world.strings().at(StringId{static_cast<std::uint32_t>(word)}));
}

}  // namespace memtrace
