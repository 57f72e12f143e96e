// Figures of /proc that triggers are compared with once a second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace memtrace {

struct MachineLevels {
  std::optional<std::uint64_t> swapped_in_pages;  // since the machine was booted
  std::optional<std::uint64_t> available_bytes;
  std::optional<std::uint64_t> total_bytes;
};

MachineLevels read_levels(const std::string& proc = "/proc");

// For how much of the last ten seconds some task of the machine waited for memory, as pressure
// stall information has it (Linux 4.20, CONFIG_PSI): "some task waited for memory for 12.34 % of
// the last 10 s". "" when it is not known, or when none waited.
std::string pressure_words(const std::string& proc = "/proc");

}  // namespace memtrace
