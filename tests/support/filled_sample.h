// A sample of an event, filled in field by field by name, and the payload that its decoder makes.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "support/saved_formats.h"
#include "tracepoints/decode/catalogue.h"

namespace memtrace {

// A format as the kernel prints it, all fields of 8 bytes: for forms of events of which none is
// saved.
inline EventFormat made_format(const std::string& system,
                               const std::string& name,
                               std::initializer_list<std::string_view> fields) {
  std::string text = "name: " + name + "\nID: 7\nformat:\n";
  int offset_bytes = 8;
  for (const std::string_view field : fields) {
    text += "\tfield:unsigned long " + std::string(field) +
            ";\toffset:" + std::to_string(offset_bytes) + ";\tsize:8;\tsigned:0;\n";
    offset_bytes += 8;
  }
  auto format = parse_format(text + "\nprint fmt: \"\"\n", system);
  if (!format.ok()) {
    ADD_FAILURE() << describe(format.error());
    return {};
  }
  return format.take();
}

class FilledSample {
 public:
  explicit FilledSample(EventFormat format) : format_(std::move(format)), bytes_(kBytes) {}

  FilledSample& put(std::string_view field, std::uint64_t value) {
    const Field* found = format_.find(field);
    if (found == nullptr) {
      ADD_FAILURE() << format_.name << " has no field " << field;
      return *this;
    }
    for (std::uint32_t i = 0; i < found->size_bytes; ++i) {  // little-endian
      bytes_.put(found->offset_bytes + i, static_cast<std::uint8_t>(value >> (8 * i)));
    }
    return *this;
  }

  FilledSample& put_text(std::string_view field, std::string_view text) {
    const Field* found = format_.find(field);
    if (found == nullptr) {
      ADD_FAILURE() << format_.name << " has no field " << field;
    } else if (found->kind == FieldKind::DynamicText) {
      constexpr std::uint32_t kPlace = 200;
      bytes_.put(found->offset_bytes,
                 location(kPlace, static_cast<std::uint32_t>(text.size() + 1)));
      bytes_.put_text(kPlace, text);
    } else {
      bytes_.put_text(found->offset_bytes, text);
    }
    return *this;
  }

  template <typename Payload>
  Payload decode() {
    auto decoder = decoder_for({format_.system + ":" + format_.name, 0, format_});
    if (!decoder.ok()) {
      ADD_FAILURE() << describe(decoder.error());
      return {};
    }
    const RawPayload payload = decoder.value()({.raw = bytes_.span()});
    if (!std::holds_alternative<Payload>(payload)) {
      ADD_FAILURE() << format_.name << ": payload " << payload.index();
      return {};
    }
    return std::get<Payload>(payload);
  }

  // A sample that is a byte too short for its fields.
  bool is_refused_when_cut() {
    auto decoder = decoder_for({format_.system + ":" + format_.name, 0, format_});
    return decoder.ok() &&
           std::holds_alternative<std::monostate>(decoder.value()({.raw = bytes_.span().first(8)}));
  }

 private:
  static constexpr std::size_t kBytes = 256;

  EventFormat format_;
  RawBytes bytes_;
};

}  // namespace memtrace
