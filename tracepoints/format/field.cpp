#include "tracepoints/format/field.h"

#include <fmt/core.h>

#include "tracepoints/format/number_at.h"

namespace memtrace {
namespace {

// offset and length of a dynamic field, packed into 4 bytes by the kernel: length in the upper 16
// bits, offset in the lower (include/trace/trace_events.h, __dynamic_array).
struct DynamicRange {
  std::size_t offset_bytes = 0;
  std::size_t size_bytes = 0;
};

DynamicRange dynamic_range(const Field& field, std::span<const std::byte> raw) {
  const auto packed = NumberAt(field.offset_bytes, 4, false).load(raw.data());
  DynamicRange range{packed & 0xffffU, packed >> 16U};
  if (field.kind == FieldKind::RelativeText) {
    range.offset_bytes += std::size_t{field.offset_bytes} + 4;
  }
  return range;
}

bool lies_within(std::size_t offset_bytes, std::size_t size_bytes, std::span<const std::byte> raw) {
  return offset_bytes <= raw.size() && size_bytes <= raw.size() - offset_bytes;
}

}  // namespace

std::uint64_t Field::number(std::span<const std::byte> raw) const {
  if (kind != FieldKind::Integer || !lies_within(offset_bytes, size_bytes, raw)) {
    return 0;
  }
  return NumberAt(offset_bytes, size_bytes, is_signed).load(raw.data());
}

std::string_view Field::text(std::span<const std::byte> raw) const {
  DynamicRange range{offset_bytes, size_bytes};
  if (kind == FieldKind::DynamicText || kind == FieldKind::RelativeText) {
    if (size_bytes != 4 || !lies_within(offset_bytes, size_bytes, raw)) {
      return {};
    }
    range = dynamic_range(*this, raw);
  } else if (kind != FieldKind::Text) {
    return {};
  }
  if (!lies_within(range.offset_bytes, range.size_bytes, raw)) {
    return {};
  }
  const auto* start = reinterpret_cast<const char*>(raw.data()) + range.offset_bytes;
  return {start, ::strnlen(start, range.size_bytes)};
}

const Field* EventFormat::find(std::string_view field_name) const {
  for (const Field& field : fields) {
    if (field.name == field_name) {
      return &field;
    }
  }
  return nullptr;
}

std::string print_flags(std::uint64_t value, std::span<const FlagName> names) {
  std::string text;
  std::uint64_t rest = value;
  for (const FlagName& flag : names) {
    const bool matches = flag.mask == 0 ? value == 0 : (rest & flag.mask) == flag.mask;
    if (!matches || (rest == 0 && value != 0)) {
      continue;
    }
    text += (text.empty() ? "" : "|") + flag.name;
    rest &= ~flag.mask;
  }
  if (rest != 0) {
    text += (text.empty() ? "" : "|") + fmt::format("0x{:x}", rest);
  }
  return text.empty() ? "none" : text;
}

}  // namespace memtrace
