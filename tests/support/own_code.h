// Places in the test program itself, as a recording would have them.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "os/system.h"
#include "symbolize/elf/module_description.h"

namespace memtrace {

struct MappedPlace {
  std::string path;
  std::uint64_t file_offset = 0;
};

// The file of this process that an address lies in; an empty path for none.
inline MappedPlace mapped_place(std::uint64_t avma) {
  const auto maps = read_file("/proc/self/maps");
  if (!maps.ok()) {
    return {};
  }
  for (const std::string_view line : split(maps.value(), '\n')) {
    unsigned long start = 0;
    unsigned long limit = 0;
    unsigned long offset = 0;
    int path_at = 0;
    const std::string text(line);
    const int fields =
        std::sscanf(text.c_str(), "%lx-%lx %*s %lx %*s %*s %n", &start, &limit, &offset, &path_at);
    if (fields >= 3 && avma >= start && avma < limit) {
      return {text.substr(static_cast<std::size_t>(path_at)), avma - start + offset};
    }
  }
  return {};
}

template <typename Function>
std::uint64_t address_of(Function* function) {
  return reinterpret_cast<std::uint64_t>(function);
}

inline ModuleDescription file_module(const std::string& path, const std::string& build_id = "") {
  return {.kind = ModuleKind::File, .path = path, .build_id = build_id, .pid = 0};
}

// Removed with all in it at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("memtrace-symbolize-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }

  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path(const std::string& name) const { return path_ / name; }

  std::string write(const std::string& name, std::string_view content) const {
    const std::string file = path(name);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace memtrace
