#include "programs/library_search.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "programs/command_programs.h"

namespace memtrace {
namespace {

// The files decide about it: far above what programs ask for.
constexpr std::size_t kMaxFiles = 512;
constexpr std::size_t kMaxFolders = 64;

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// "$ORIGIN/../lib:/opt/lib" of the file at `path`.
std::vector<std::string> folders_of(const std::string& list, const std::string& path) {
  std::vector<std::string> folders;
  for (const std::string_view part : split(list, ':')) {
    std::string folder(part);
    replace_all(folder, "${ORIGIN}", folder_of(path));
    replace_all(folder, "$ORIGIN", folder_of(path));
    if (folder.starts_with('/') && folders.size() < kMaxFolders) {
      folders.push_back(std::move(folder));
    }
  }
  return folders;
}

// Where distributions have libraries that ldconfig(8) need not know.
std::vector<std::string> usual_folders(std::uint16_t machine) {
  std::vector<std::string> folders = {"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"};
  if (machine == EM_X86_64 || machine == EM_AARCH64) {
    const std::string name = machine == EM_X86_64 ? "x86_64-linux-gnu" : "aarch64-linux-gnu";
    folders.insert(folders.begin(), {"/lib/" + name, "/usr/lib/" + name});
  }
  return folders;
}

}  // namespace

LibrarySearch::LibrarySearch(Places places)
    : places_(std::move(places)),
      cache_(LoaderCache::open(places_.root + resolve_below(places_.root, "/etc/ld.so.cache"))) {}

std::vector<std::string> LibrarySearch::libraries_of(const std::string& program) {
  const auto dynamic = read_dynamic_section(places_.root + program);
  if (!dynamic) {
    return {};
  }
  machine_ = dynamic->machine;
  std::string preload = places_.preload;
  std::replace(preload.begin(), preload.end(), ' ', ':');
  for (const std::string_view name : split(preload, ':')) {
    wishes_.push_back({.name = std::string(name), .folders = {}, .late_folders = {}});
  }
  add_wishes(*dynamic, program, {});
  while (!wishes_.empty()) {
    const Wish wish = std::move(wishes_.front());
    wishes_.pop_front();
    find(wish);
  }
  return std::move(found_);
}

// DT_RPATH holds for what libraries of this one ask for, too; DT_RUNPATH takes its place, for this
// one alone (ld.so(8)).
void LibrarySearch::add_wishes(const DynamicSection& dynamic,
                               const std::string& path,
                               const std::vector<std::string>& inherited) {
  std::vector<std::string> folders;
  if (dynamic.runpath.empty()) {
    folders = folders_of(dynamic.rpath, path);
    folders.insert(folders.end(), inherited.begin(), inherited.end());
    folders.resize(std::min(folders.size(), kMaxFolders));
  }
  for (const std::string& name : dynamic.needed) {
    if (names_.size() < kMaxFiles && names_.insert(name).second) {
      wishes_.push_back({name, folders, folders_of(dynamic.runpath, path)});
    }
  }
}

std::vector<std::string> LibrarySearch::candidates(const Wish& wish) const {
  if (wish.name.find('/') != std::string::npos) {
    return {wish.name};
  }
  std::vector<std::string> paths;
  const auto add = [&](const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
      paths.push_back(folder + "/" + wish.name);
    }
  };
  add(wish.folders);
  add(folders_of(places_.library_path, ""));
  add(wish.late_folders);
  const auto cached = cache_.find(wish.name);
  paths.insert(paths.end(), cached.begin(), cached.end());
  add(usual_folders(machine_));
  return paths;
}

void LibrarySearch::find(const Wish& wish) {
  for (const std::string& path : candidates(wish)) {
    if (!wish.name.empty() && try_path(wish, path)) {
      return;
    }
  }
}

// True: this is the one, for the same machine, and it is in the list.
bool LibrarySearch::try_path(const Wish& wish, const std::string& path) {
  const std::string file = resolve_below(places_.root, path);
  if (file.empty() || opened_count_ >= kMaxFiles) {
    return false;
  }
  if (seen_.contains(file)) {
    return true;
  }
  ++opened_count_;
  const auto dynamic = read_dynamic_section(places_.root + file);
  if (!dynamic || dynamic->machine != machine_) {
    return false;
  }
  seen_.insert(file);
  found_.push_back(path);
  add_wishes(*dynamic, file, wish.folders);
  return true;
}

}  // namespace memtrace
