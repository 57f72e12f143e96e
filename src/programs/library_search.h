// Finds the libraries that a dynamic loader would load, without running it: for programs and
// loaders of other users, which would run with our rights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "programs/dynamic_section.h"
#include "programs/loader_cache.h"

namespace memtrace {

// Searches as ld.so(8) says, without what depends on the processor (glibc-hwcaps) and on constants
// of one libc's build. What it misses is met when the process maps it.
class LibrarySearch {
 public:
  // Folders that are searched before and after those that files name themselves; all below root.
  struct Places {
    std::string root;
    std::string library_path;  // LD_LIBRARY_PATH, between colons
    std::string preload;       // LD_PRELOAD, between colons or blanks
  };

  explicit LibrarySearch(Places places);

  // Paths below root, in the order in which they are loaded. Without the loader itself, unless a
  // library asks for it.
  std::vector<std::string> libraries_of(const std::string& program);

 private:
  // A library that somebody asks for.
  struct Wish {
    std::string name;
    std::vector<std::string> folders;  // that are searched before LD_LIBRARY_PATH
    std::vector<std::string> late_folders;
  };

  void add_wishes(const DynamicSection& dynamic,
                  const std::string& path,
                  const std::vector<std::string>& inherited);
  void find(const Wish& wish);
  bool try_path(const Wish& wish, const std::string& path);
  std::vector<std::string> candidates(const Wish& wish) const;

  Places places_;
  LoaderCache cache_;
  std::uint16_t machine_ = 0;
  std::deque<Wish> wishes_;
  std::set<std::string> names_;  // that were asked for
  std::size_t opened_count_ = 0;
  std::set<std::string> seen_;  // files
  std::vector<std::string> found_;
};

}  // namespace memtrace
