#include "tracepoints/format/field_lookup.h"

#include <algorithm>
#include <utility>

namespace memtrace {

FieldLookup::FieldLookup(EventFormat format) : format_(std::move(format)) {}

NumberAt FieldLookup::required(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto number = optional(name)) {
      return *number;
    }
  }
  if (missing_.empty()) {
    missing_ = *names.begin();
  }
  return {};
}

std::optional<NumberAt> FieldLookup::optional(std::string_view name) {
  const Field* field = format_.find(name);
  if (field == nullptr || field->kind != FieldKind::Integer) {
    return std::nullopt;
  }
  const NumberAt number(field->offset_bytes, field->size_bytes, field->is_signed);
  needed_bytes_ = std::max(needed_bytes_, number.limit_bytes());
  return number;
}

std::optional<Field> FieldLookup::optional_text(std::string_view name) const {
  const Field* field = format_.find(name);
  return field == nullptr ? std::nullopt : std::optional<Field>(*field);
}

std::uint32_t FieldLookup::required_array(std::string_view name, std::size_t size_bytes) {
  const Field* field = format_.find(name);
  if (field == nullptr || field->kind != FieldKind::Array || field->size_bytes < size_bytes) {
    missing_ = missing_.empty() ? name : missing_;
    return 0;
  }
  needed_bytes_ = std::max(needed_bytes_, field->offset_bytes + size_bytes);
  return field->offset_bytes;
}

Result<> FieldLookup::check() const {
  if (missing_.empty()) {
    return kDone;
  }
  if (format_.fields.empty()) {
    return Error{"decoding: no field '" + missing_ + "': the event's format is not there",
                 0,
                 "the recording was cut before it; the event can be counted but not read"};
  }
  return Error{"decoding " + format_.system + ":" + format_.name + ": no field '" + missing_ + "'",
               0,
               "this kernel's form of the event is not known to memtrace; use its fields with the "
               "count view"};
}

}  // namespace memtrace
