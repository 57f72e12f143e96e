#include "views/mapping/memory_map_table.h"

#include "state/mapping/map_flags.h"
#include "views/kit/cells.h"
#include "views/mapping/call_names.h"
#include "views/mapping/mapped_files.h"

namespace memtrace {
namespace {

// As /proc/PID/maps has it, but for a record that does not say (of a kernel before 3.16).
std::string access_of(const MemoryArea& area) {
  const char* sharing = (area.flags & kMapShared) != 0 ? "s" : "p";
  return protection_name(area.protection) + (area.flags == 0 ? "" : sharing);
}

std::vector<Cell> row_of(std::uint32_t pid,
                         const MemoryMap::Entry& entry,
                         const CellContext& context) {
  const MemoryArea& area = entry.value;
  return {std::uint64_t{pid},
          entry.start,
          entry.limit - entry.start,
          access_of(area),
          std::string(name_of(area.kind)),
          when(area.has_offset(), entry.start + area.offset_minus_avma),
          when(area.has_offset() && area.path.valid(), area.inode),
          mapped_file_cell(mapped_file_word(area), context)};
}

}  // namespace

Table memory_map_table(const CellContext& context, const TaskFilter& tasks) {
  Table table{.title = "mappings",
              .columns = {{"pid", Unit::Number},
                          {"start", Unit::Address},
                          {"bytes", Unit::Bytes},
                          {"access", Unit::Text},
                          {"kind", Unit::Text},
                          {"offset", Unit::Bytes},
                          {"inode", Unit::Number},
                          {"file", Unit::Text}},
              .key_count = 2,
              .fixed = true};
  context.world.memory_maps().for_each([&](std::uint32_t pid, const MemoryMap& map) {
    if (!tasks.accepts_process(context.world, pid)) {
      return;
    }
    for (const auto& [start, entry] : map.areas().entries()) {
      table.rows.push_back(row_of(pid, entry, context));
    }
  });
  return table;
}

}  // namespace memtrace
