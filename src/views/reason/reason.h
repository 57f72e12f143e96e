// Why memory was refused: one limit or shortage, with its arithmetic and what would have to change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace memtrace {

struct Reason {
  std::string_view code;  // "rlimit_as": the same in all versions, for programs
  std::string_view name;  // "RLIMIT_AS", for people
  std::string sentence = {};
  std::string change = {};  // what would have to be different
  Unit unit = Unit::Bytes;  // of these figures, or Count; what is not known is not there
  std::optional<std::uint64_t> asked = {};
  std::optional<std::uint64_t> used = {};
  std::optional<std::uint64_t> limit = {};
  std::optional<std::uint64_t> excess = {};  // by how much the limit would have been passed
};

// "12.0 MiB" or "1,024".
inline std::string amount(Unit unit, std::uint64_t value) {
  return unit == Unit::Bytes ? print_bytes(value) : print_count(value);
}

// Sets the excess, and returns "12.0 MiB in use + 4.0 MiB asked for are 1.0 MiB too much". Without
// what was in use, the request alone is compared.
inline std::string add_up(Reason& reason) {
  const std::uint64_t asked = reason.asked.value_or(0);
  const std::uint64_t limit = reason.limit.value_or(0);
  const std::uint64_t used = reason.used.value_or(0);
  const std::uint64_t free = limit > used ? limit - used : 0;
  const std::uint64_t over = used > limit ? used - limit : 0;
  reason.excess = over + (asked > free ? asked - free : 0);
  const std::string wanted = amount(reason.unit, asked) + " asked for";
  const std::string too_much = " " + amount(reason.unit, *reason.excess) + " too much";
  if (!reason.used) {
    return wanted + " alone is" + too_much;
  }
  return amount(reason.unit, used) + " in use + " + wanted + " are" + too_much;
}

}  // namespace memtrace
