// What a program or library asks its dynamic loader for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memtrace {

struct DynamicSection {
  std::uint16_t machine = 0;
  std::vector<std::string> needed;  // DT_NEEDED: names, or paths with a slash
  std::string rpath;                // folders between colons, as they stand there
  std::string runpath;
};

// Nothing for what is not a dynamic ELF file.
std::optional<DynamicSection> read_dynamic_section(const std::string& path);

}  // namespace memtrace
