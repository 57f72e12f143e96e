#include "symbolize/elf/module_file.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "os/procfs.h"
#include "os/system.h"
#include "symbolize/elf/build_id.h"

namespace memtrace {

namespace {

bool is_deleted(const ModuleDescription& module) {
  return module.path.ends_with(kDeletedSuffix);
}

// The file's numbers, or without them its path, identify the mapping. Below chroot(2) the line has
// another path than the record of the mapping.
bool is_mapping_of(const MapsLine& line, const ModuleDescription& module) {
  if (module.file.inode == 0) {
    return line.path == module.path || without_deleted(line.path) == module.path;
  }
  return line.major == module.file.major && line.minor == module.file.minor &&
         line.inode == module.file.inode;
}

// A removed file stays reachable while it is mapped. It may have been removed after its path was
// recorded, or lie in a mount namespace where no path leads from here.
std::string path_in_map_files(const ModuleDescription& module) {
  const std::string maps = proc_text(module.pid, "maps");
  for (const std::string_view text : split(maps, '\n')) {
    const auto line = parse_maps_line(text);
    if (line && is_mapping_of(*line, module)) {
      return map_files_path(module.pid, line->start, line->limit);
    }
  }
  return "";
}

// For these stat(2) gives other numbers than records of mappings: overlayfs maps the file that lies
// below (fs/overlayfs/file.c), and each subvolume of btrfs has a device of its own.
bool has_other_numbers(const std::string& path) {
  constexpr auto kFileSystems = std::to_array<std::uint64_t>({
      OVERLAYFS_SUPER_MAGIC,
      BTRFS_SUPER_MAGIC,
      0x61756673,  // aufs
      0xca451a4e,  // bcachefs
      ECRYPTFS_SUPER_MAGIC,
  });

  struct statfs file_system {};

  return ::statfs(path.c_str(), &file_system) == 0 &&
         std::ranges::find(kFileSystems, static_cast<std::uint64_t>(file_system.f_type)) !=
             kFileSystems.end();
}

// Whether the file there can be the one that was mapped. A build id is a better witness.
bool may_be_file(const std::string& path, const ModuleDescription& module) {
  struct stat status {};

  if (::stat(path.c_str(), &status) != 0) {
    return false;
  }
  const FileNumbers& file = module.file;
  const bool is_same = status.st_ino == file.inode && major(status.st_dev) == file.major &&
                       minor(status.st_dev) == file.minor;
  return file.inode == 0 || !module.build_id.empty() || is_same || has_other_numbers(path);
}

// Where it may lie by its path.
std::vector<std::string> named_paths(const ModuleDescription& module) {
  std::vector<std::string> paths;
  // What has taken the place of a removed file is the same program only if a build id says so.
  if (!is_deleted(module) || !module.build_id.empty()) {
    for (const std::string& root : roots_of(module)) {
      paths.push_back(root + without_deleted(module.path));
    }
  }
  return paths;
}

// In the order of trust.
std::vector<std::string> candidate_paths(const ModuleDescription& module) {
  std::vector<std::string> paths = named_paths(module);
  std::erase_if(paths, [&module](const std::string& path) { return !may_be_file(path, module); });
  if (module.pid != 0 && (is_deleted(module) || paths.empty())) {
    paths.insert(paths.begin(), path_in_map_files(module));
  }
  std::erase(paths, "");
  return paths;
}

// Something lies at the module's path, and it is not the module.
bool is_replaced(const ModuleDescription& module) {
  const std::vector<std::string> paths = named_paths(module);
  return std::ranges::any_of(paths, path_exists);
}

}  // namespace

std::vector<std::string> roots_of(const ModuleDescription& module) {
  if (module.pid == 0) {
    return {""};
  }
  std::vector<std::string> roots = {proc_path(module.pid, "root"), module.root};
  if (!module.root.empty()) {
    roots.emplace_back("");
  }
  return roots;
}

std::optional<ElfFile> find_module_file(const ModuleDescription& module,
                                        const DebugPlaces& places,
                                        SymbolCaveats& caveats) {
  std::string other_build_id;
  bool found_other = false;
  for (const std::string& path : candidate_paths(module)) {
    auto file = ElfFile::open(path);
    if (!file.ok()) {
      continue;
    }
    const std::string build_id = file.value().build_id();
    if (module.build_id.empty() || same_build_id(build_id, module.build_id)) {
      return file.take();
    }
    found_other = true;
    other_build_id = build_id.empty() ? "none" : build_id;
  }
  auto debug_file = find_debug_file_by_build_id(module.build_id, places);
  if (debug_file) {
    return debug_file;
  }
  if (found_other) {
    caveats.add(module.path + " is not the file that was recorded (build id now " + other_build_id +
                ", then " + module.build_id + "): its functions are not named");
  } else if (is_replaced(module)) {
    caveats.add(module.path +
                " is not the file that its process mapped, which cannot be found any "
                "more: its functions are not named");
  } else {
    caveats.add_unreadable(module.path);
  }
  return std::nullopt;
}

}  // namespace memtrace
