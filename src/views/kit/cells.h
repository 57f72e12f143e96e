// Cells that stay blank where the recording does not say: not 0 but unknown.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "report/report.h"
#include "state/world/world.h"

namespace memtrace {

// Integers of any size, texts, ids, and cells themselves.
template <typename Value>
Cell cell_of(Value value) {
  if constexpr (std::unsigned_integral<Value>) {
    return std::uint64_t{value};
  } else if constexpr (std::signed_integral<Value>) {
    return std::int64_t{value};
  } else if constexpr (std::is_convertible_v<Value, std::string_view>) {
    const std::string_view text = value;
    return std::string(text);
  } else {
    return Cell(std::move(value));
  }
}

template <typename Value>
Cell when(bool is_known, Value value) {
  return is_known ? cell_of(std::move(value)) : Cell();
}

template <typename Value>
Cell when(const std::optional<Value>& value) {
  return value ? cell_of(*value) : Cell();
}

// Of a pid, an address or a duration, 0 says that there is none.
inline Cell unless_zero(std::uint64_t number) {
  return when(number != 0, number);
}

inline Cell unless_empty(std::string_view text) {
  return when(!text.empty(), text);
}

// A place in code, a stack or any other id; blank for none.
template <typename Id>
Cell unless_invalid(Id id) {
  return when(id.valid(), id);
}

inline Cell text_of(const World& world, StringId id) {
  return id.valid() ? cell_of(world.strings().at(id)) : Cell();
}

// The number or the text of this name that /proc had; blank where it was not read.
inline Cell fact(const Facts* facts, std::string_view name) {
  const std::uint64_t* number = facts == nullptr ? nullptr : facts->number(name);
  const std::string* text = facts == nullptr ? nullptr : facts->text(name);
  return number != nullptr ? Cell(*number) : text != nullptr ? unless_empty(*text) : Cell();
}

inline Cell fact(const Facts& facts, std::string_view name) {
  return fact(&facts, name);
}

inline Cell fact(const Observation* seen, std::string_view name) {
  return fact(seen == nullptr ? nullptr : &seen->facts, name);
}

// Blank for parts of nothing.
inline Cell quotient_cell(std::uint64_t sum, std::uint64_t count) {
  return count == 0 ? Cell() : Cell(sum / count);
}

inline Cell percent_cell(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? Cell() : Cell(100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// When something happened, from the start of the report; 0 for what happened before it.
inline Cell since(std::uint64_t time_ns, std::uint64_t start_ns) {
  return time_ns - std::min(time_ns, start_ns);
}

}  // namespace memtrace
