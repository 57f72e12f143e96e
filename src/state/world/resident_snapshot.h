// Which pages of a process were resident, as /proc said at one moment, and how that is kept in an
// observation: the runs of pages as one text, because a process may have a hundred thousand, and
// the sizes of its mappings as another.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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

  // Of all mappings with one name together.
  struct Mapping {
    std::uint64_t rss_bytes = 0;
    std::uint64_t swap_bytes = 0;

    friend bool operator==(const Mapping&, const Mapping&) = default;
  };

  // What files of before Linux 4.5, and recordings of earlier memtraces, do not say is 0.
  struct Parts {
    std::uint64_t pss_bytes = 0;
    std::uint64_t anonymous_bytes = 0;
    std::uint64_t shared_memory_bytes = 0;
    std::uint64_t page_table_bytes = 0;  // no part of the resident size
    std::uint64_t read_from_ns = 0;      // CLOCK_MONOTONIC: when smaps was read
    std::uint64_t read_to_ns = 0;
    std::map<std::string, Mapping, std::less<>> mappings = {};  // by mapping_name()

    friend bool operator==(const Parts&, const Parts&) = default;
  };

  std::uint32_t pid = 0;
  std::string comm;
  std::uint64_t rss_bytes = 0;
  std::uint64_t swap_bytes = 0;
  std::vector<Run> runs = {};  // in order; none touches the next
  Parts parts = {};

  // After all others.
  void add_page(std::uint64_t page);

  friend bool operator==(const ResidentSnapshot&, const ResidentSnapshot&) = default;
};

// The name of a mapping in a ledger: its path, "[heap]", "[stack]", or "[anon]" for all memory
// without a name, and with one that prctl(2) gave it.
std::string_view mapping_name(std::string_view path);

Facts facts_of(const ResidentSnapshot& snapshot);

// Nothing for facts that are none, or whose text is damaged.
std::optional<ResidentSnapshot> resident_snapshot(const Facts& facts);

}  // namespace memtrace
