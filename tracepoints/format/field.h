// The fields of an event as its format file describes them, read from raw sample bytes by offset.
// Nothing here knows libtraceevent: tracepoints/format/format.cpp fills these in once per event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace {

enum class FieldKind : std::uint8_t { Integer, Text, DynamicText, RelativeText, Array };

// One name for a bit pattern of a flags field, as the event's own print fmt lists them.
struct FlagName {
  std::uint64_t mask = 0;
  std::string name;
};

struct Field {
  std::string name;
  std::uint32_t offset_bytes = 0;
  std::uint32_t size_bytes = 0;
  bool is_signed = false;
  bool is_pointer = false;  // print it in hexadecimal
  FieldKind kind = FieldKind::Integer;
  std::vector<FlagName> flags;    // from __print_flags on this field
  std::vector<FlagName> symbols;  // from __print_symbolic on this field: whole values

  // 0 when the sample is too short for the field or the field is not an Integer. Signed fields are
  // sign-extended.
  std::uint64_t number(std::span<const std::byte> raw) const;
  // The field's text; "" when it lies outside of the sample.
  std::string_view text(std::span<const std::byte> raw) const;
};

struct EventFormat {
  std::string system;
  std::string name;
  std::uint64_t id = 0;
  std::vector<Field> fields;  // common_* fields included
  // The machine whose kernel wrote it, as uname -m says; "" is the one that this program is for.
  std::string architecture = {};

  // nullptr when the event has no such field.
  const Field* find(std::string_view field_name) const;
};

// "GFP_KERNEL|__GFP_ZERO": greedy in the format's order as __print_flags does; rest in hex. 0 is
// "none" (as show_gfp_flags prints it) unless the format names it.
std::string print_flags(std::uint64_t value, std::span<const FlagName> names);

}  // namespace memtrace
