#include "symbolize/module_file.h"

#include <algorithm>
#include <string_view>

#include "base/system.h"
#include "base/text.h"
#include "symbolize/build_id.h"

namespace memtrace {

namespace {

bool is_deleted(const ModuleDescription& module) {
  return module.path.ends_with(kDeletedSuffix);
}

// A removed file stays reachable while it is mapped, through a link named after the mapping's
// address range (proc(5); since Linux 3.3, for root). It may have been removed after its path was
// recorded.
std::string path_in_map_files(const ModuleDescription& module) {
  const std::string process = "/proc/" + std::to_string(module.pid);
  const auto maps = read_file(process + "/maps");
  if (!maps.ok()) {
    return "";
  }
  const std::string deleted(kDeletedSuffix);
  for (const std::string_view line : split(maps.value(), '\n')) {
    if (line.ends_with(" " + module.path) || line.ends_with(" " + module.path + deleted)) {
      return process + "/map_files/" + std::string(line.substr(0, line.find(' ')));
    }
  }
  return "";
}

bool path_exists_in(const std::vector<std::string>& paths) {
  return std::any_of(paths.begin(), paths.end(), path_exists);
}

// In the order of trust.
std::vector<std::string> candidate_paths(const ModuleDescription& module) {
  std::vector<std::string> paths;
  if (is_deleted(module) && module.pid != 0) {
    paths.push_back(path_in_map_files(module));
  }
  // What has taken the place of a removed file is the same program only if a build id says so.
  if (!is_deleted(module) || !module.build_id.empty()) {
    for (const std::string& root : roots_of(module)) {
      paths.push_back(root + path_on_disk(module.path));
    }
  }
  if (!is_deleted(module) && module.pid != 0 && !path_exists_in(paths)) {
    paths.push_back(path_in_map_files(module));
  }
  std::erase(paths, "");
  return paths;
}

}  // namespace

std::string path_on_disk(const std::string& mapped_path) {
  return mapped_path.ends_with(kDeletedSuffix)
             ? mapped_path.substr(0, mapped_path.size() - kDeletedSuffix.size())
             : mapped_path;
}

std::vector<std::string> roots_of(const ModuleDescription& module) {
  if (module.pid == 0) {
    return {""};
  }
  return {"/proc/" + std::to_string(module.pid) + "/root", ""};
}

std::optional<ElfFile> find_module_file(const ModuleDescription& module,
                                        const DebugPlaces& places,
                                        NamingCaveats& caveats) {
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
  } else {
    caveats.add_unreadable(module.path);
  }
  return std::nullopt;
}

}  // namespace memtrace
