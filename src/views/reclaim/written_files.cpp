#include "views/reclaim/written_files.h"

#include <fmt/core.h>

#include <string>

#include "state/world/file_names.h"

namespace memtrace {
namespace {

// File systems without a block device have names of their own: "btrfs-1", "0:45".
std::string name_of_file(const FileNames& names, std::string_view device, std::uint64_t inode) {
  const auto id = file_on(device, inode);
  return id ? names.of(*id) : fmt::format("device {} inode {}", device, inode);
}

}  // namespace

void WrittenFiles::on(const Event& event) {
  if (const auto* dirtied = std::get_if<PageDirtied>(&event.payload)) {
    files_[{event.label, dirtied->inode}].dirtied += dirtied->pages * event.weight;
  } else if (const auto* written = std::get_if<InodeWritten>(&event.payload)) {
    files_[{event.label, written->inode}].written += written->pages * event.weight;
  }
}

Table WrittenFiles::table(const World& world) const {
  Table table{.title = "by file",
              .columns = {{"file", Unit::Text}, {"dirtied", Unit::Count}, {"written", Unit::Count}},
              .key_count = 1,
              .sort = "dirtied"};
  const FileNames names(world);
  for (const auto& [file, cost] : files_) {
    const auto& [device, inode] = file;
    table.rows.push_back(
        {name_of_file(names, world.strings().at(device), inode), cost.dirtied, cost.written});
  }
  return table;
}

}  // namespace memtrace
