#include "tracepoints/format/format.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>

#include "base/text.h"
#include "tracepoints/format/format_guard.h"
#include "tracepoints/format/print_fmt.h"
#include "tracepoints/format/tep_bridge.h"

namespace memtrace {
namespace {

// The kernel refuses larger trace records (PERF_MAX_TRACE_SIZE, include/linux/trace_events.h: 8192)
// and stores field offsets in an unsigned 16-bit length; what is above is not a format file.
constexpr int kMaxFieldLimitBytes = 65536;

using TepHandle = std::unique_ptr<tep_handle, decltype(&tep_free)>;

TepHandle make_handle() {
  tep_set_loglevel(TEP_LOG_NONE);  // a print fmt that it cannot parse is no news to the user
  TepHandle handle(tep_alloc(), &tep_free);
  if (handle != nullptr) {
    tep_set_long_size(handle.get(), 8);
    tep_set_file_bigendian(handle.get(), TEP_LITTLE_ENDIAN);
    tep_set_local_bigendian(handle.get(), TEP_LITTLE_ENDIAN);
  }
  return handle;
}

bool is_text(std::string_view type) {
  return type.find("char") != std::string_view::npos &&
         type.find("unsigned") == std::string_view::npos &&
         type.find('*') == std::string_view::npos;
}

FieldKind kind_of(const tep_format_field& field) {
  const bool is_list = (field.flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC)) != 0;
  if (is_list && is_text(field.type)) {
    if ((field.flags & TEP_FIELD_IS_RELATIVE) != 0) {
      return FieldKind::RelativeText;
    }
    const bool dynamic = (field.flags & TEP_FIELD_IS_DYNAMIC) != 0;
    return dynamic ? FieldKind::DynamicText : FieldKind::Text;
  }
  const bool is_number = field.size == 8 || field.size == 4 || field.size == 2 || field.size == 1;
  return is_list || !is_number ? FieldKind::Array : FieldKind::Integer;
}

// 2.6.32's format files do not say "signed:" (kernel/trace/trace_events.c): then the type decides.
bool is_signed_type(std::string_view type) {
  const std::string_view first = split(trim(type), ' ').front();
  constexpr std::array<std::string_view, 10> kSigned = {
      "int", "long", "short", "s8", "s16", "s32", "s64", "pid_t", "ssize_t", "char"};
  return type.find('*') == std::string_view::npos &&
         std::find(kSigned.begin(), kSigned.end(), first) != kSigned.end();
}

Result<> add_fields(const tep_format_field* field, bool says_signed, EventFormat& format) {
  for (; field != nullptr; field = field->next) {
    if (field->name == nullptr || field->type == nullptr || field->offset < 0 || field->size < 0 ||
        field->offset > kMaxFieldLimitBytes || field->size > kMaxFieldLimitBytes) {
      return Error{"format of " + format.system + ":" + format.name + ": a field makes no sense",
                   0,
                   "the recording is damaged"};
    }
    const FieldKind kind = kind_of(*field);
    const bool is_signed =
        says_signed ? (field->flags & TEP_FIELD_IS_SIGNED) != 0 : is_signed_type(field->type);
    const bool is_pointer =
        kind == FieldKind::Integer && (field->flags & TEP_FIELD_IS_POINTER) != 0;
    format.fields.push_back({.name = field->name,
                             .offset_bytes = static_cast<std::uint32_t>(field->offset),
                             .size_bytes = static_cast<std::uint32_t>(field->size),
                             .is_signed = is_signed && !is_pointer,
                             .is_pointer = is_pointer,
                             .kind = kind,
                             .flags = {},
                             .symbols = {}});
  }
  return kDone;
}

}  // namespace

Result<EventFormat> parse_format(std::string_view text, std::string_view system) {
  const std::string group(system);
  const TepHandle handle = make_handle();
  const std::optional<std::string> copy = guarded_format(text);
  if (handle == nullptr) {
    return Error{"tep_alloc", ENOMEM, ""};
  }
  if (copy) {
    // The status includes the print fmt; the presence of the event shows that its fields are good.
    tep_parse_event(handle.get(), copy->c_str(), copy->size(), group.c_str());
  }
  const tep_event* event = tep_get_first_event(handle.get());
  if (event == nullptr || event->name == nullptr || event->format.common_fields == nullptr) {
    return Error{"format of an event of group " + group + ": not a tracefs format",
                 0,
                 "the recording is damaged, or the file is not an event's format file"};
  }
  EventFormat format{group, event->name, static_cast<std::uint64_t>(event->id), {}};
  const bool says_signed = text.find("signed:") != std::string_view::npos;
  TRY(add_fields(event->format.common_fields, says_signed, format));
  TRY(add_fields(event->format.fields, says_signed, format));
  if ((event->flags & static_cast<int>(TEP_EVENT_FL_FAILED)) == 0) {
    add_value_names(event->print_fmt.args, text, format);
  }
  return format;
}

}  // namespace memtrace
