// Where in an address space a change of the resident size was.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "state/world/world.h"

namespace memtrace {

struct RssPlace {
  // Whole: a fork, an exec or an exit changes all mappings at once.
  enum class Kind : std::uint8_t { Unknown, Whole, Heap, Stack, Anonymous, Named };

  Kind kind = Kind::Unknown;
  StringId path = {};  // of Named

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler itself compares the result with 0.
  friend auto operator<=>(const RssPlace&, const RssPlace&) = default;
};

RssPlace rss_place(const World& world, std::uint32_t pid, std::uint64_t address);

// By which ResidentSnapshot::Parts::mappings has it.
std::string name_of(const RssPlace& place, const World& world);

}  // namespace memtrace
