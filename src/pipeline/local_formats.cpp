#include "pipeline/local_formats.h"

#include "tracepoints/tracefs.h"

namespace memtrace {

std::optional<LocalFormat> find_local_format(std::uint64_t id) {
  const auto files = TracepointFiles::open();
  if (!files.ok()) {
    return std::nullopt;
  }
  const auto events = files.value().list_events("*:*");
  if (!events.ok()) {
    return std::nullopt;
  }
  for (const std::string& name : events.value()) {
    const auto event_id = files.value().event_id(name);
    if (event_id.ok() && event_id.value() == id) {
      auto text = files.value().event_format_text(name);
      return text.ok() ? std::optional(LocalFormat{name, text.take()}) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace memtrace
