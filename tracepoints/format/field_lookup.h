// The look-up of an event's fields that a decoder does once, when it is bound to a format. Internal
// to tracepoints/.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tracepoints/format/field.h"
#include "tracepoints/format/number_at.h"

namespace memtrace {

// Remembers how long a sample must be to hold all the numbers that were asked for, so that the
// decoder checks bounds once for each sample; and what was missing, so that bind asks once.
class FieldLookup {
 public:
  explicit FieldLookup(EventFormat format);

  // The field under the first of its names that the event has; kernels renamed some.
  NumberAt required(std::initializer_list<std::string_view> names);
  std::optional<NumberAt> optional(std::string_view name);
  std::optional<Field> optional_text(std::string_view name) const;
  // Where an array of at least this many bytes begins.
  std::uint32_t required_array(std::string_view name, std::size_t size_bytes);

  const EventFormat& format() const { return format_; }

  bool has(std::string_view name) const { return format_.find(name) != nullptr; }

  std::size_t needed_bytes() const { return needed_bytes_; }

  // Error: names the event and the first required field that it lacks.
  Result<> check() const;

 private:
  EventFormat format_;
  std::size_t needed_bytes_ = 0;
  std::string missing_;
};

// What a field says that not all kernels have.
template <typename Number>
Number load_or(const std::optional<NumberAt>& field,
               std::span<const std::byte> raw,
               Number otherwise) {
  return field ? static_cast<Number>(field->load(raw.data())) : otherwise;
}

}  // namespace memtrace
