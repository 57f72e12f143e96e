// Which pages of a process were resident, as /proc said at one moment, and how that is kept in an
// observation: the runs of pages as one text, because a process may have a hundred thousand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "state/world/observations.h"

namespace memtrace {

// Whose observations these are: at the begin of a recording, at its end or an interval's.
inline constexpr std::string_view kResidentAtBegin = "resident at begin";
inline constexpr std::string_view kResidentAtEnd = "resident";

struct ResidentSnapshot {
  // Numbers of pages: the address over the page size.
  struct Run {
    std::uint64_t first = 0;
    std::uint64_t limit = 0;

    friend bool operator==(const Run&, const Run&) = default;
  };

  std::uint32_t pid = 0;
  std::string comm;
  std::uint64_t rss_bytes = 0;
  std::uint64_t swap_bytes = 0;
  std::vector<Run> runs;  // in order; none touches the next

  // After all others.
  void add_page(std::uint64_t page);

  friend bool operator==(const ResidentSnapshot&, const ResidentSnapshot&) = default;
};

Facts facts_of(const ResidentSnapshot& snapshot);

// Nothing for facts that are none, or whose text is damaged.
std::optional<ResidentSnapshot> resident_snapshot(const Facts& facts);

}  // namespace memtrace
