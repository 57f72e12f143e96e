#include "state/world/file_names.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "state/world/world.h"

namespace memtrace {
namespace {

std::uint64_t number_or_zero(const Facts& facts, std::string_view name) {
  const std::uint64_t* number = facts.number(name);
  return number == nullptr ? 0 : *number;
}

FileId id_of(const Facts& row) {
  return {.device_major = static_cast<std::uint32_t>(number_or_zero(row, "major")),
          .device_minor = static_cast<std::uint32_t>(number_or_zero(row, "minor")),
          .inode = number_or_zero(row, "inode")};
}

}  // namespace

std::string describe(const FileId& id) {
  return fmt::format("device {}:{} inode {}", id.device_major, id.device_minor, id.inode);
}

std::optional<FileId> file_on(std::string_view device, std::uint64_t inode) {
  const auto numbers = split(device, ':');
  const auto major = parse_number(numbers.front());
  const auto minor = parse_number(numbers.back());
  if (numbers.size() != 2 || !major || !minor) {
    return std::nullopt;
  }
  return FileId{.device_major = static_cast<std::uint32_t>(*major),
                .device_minor = static_cast<std::uint32_t>(*minor),
                .inode = inode};
}

// The name that was read last is put first: a mapping keeps the name that its file had then.
FileNames::FileNames(const World& world) {
  add_open_files(world);
  add_mapped_files(world);
  add_modules(world);
}

void FileNames::add_open_files(const World& world) {
  world.observations().for_each([this](const Observation& observation) {
    if (observation.reader != "files") {
      return;
    }
    std::ranges::for_each(observation.rows, [this](const Facts& row) { add_open_file(row); });
  });
}

void FileNames::add_open_file(const Facts& row) {
  if (const std::string* path = row.text("path"); path != nullptr) {
    names_[id_of(row)] = *path;
  }
}

void FileNames::add_mapped_files(const World& world) {
  world.memory_maps().for_each([this, &world](std::uint32_t /*pid*/, const MemoryMap& map) {
    for (const auto& [start, entry] : map.areas().entries()) {
      add_mapped_file(entry.value, world);
    }
  });
}

void FileNames::add_mapped_file(const MemoryArea& area, const World& world) {
  if (area.inode != 0 && area.path.valid()) {
    names_.try_emplace(FileId{area.major, area.minor, area.inode}, world.strings().at(area.path));
  }
}

void FileNames::add_modules(const World& world) {
  const ModuleTable& modules = world.modules();
  for (std::uint32_t i = 1; i <= world.last_module().value; ++i) {
    const Module& module = modules.at(ModuleId{i});
    if (module.inode != 0 && !module.path.empty()) {
      names_.try_emplace(FileId{module.major, module.minor, module.inode}, module.path);
    }
  }
}

std::string FileNames::of(const FileId& id) const {
  const auto found = names_.find(id);
  return found == names_.end() ? describe(id) : found->second;
}

}  // namespace memtrace
