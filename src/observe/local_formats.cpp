#include "observe/local_formats.h"

#include "base/text.h"
#include "tracepoints/format/tracefs.h"

namespace memtrace {
namespace {

std::optional<std::uint64_t> id_in(std::string_view format) {
  for (const std::string_view line : split(format, '\n')) {
    if (const auto id =
            line.starts_with("ID:") ? parse_number(trim(line.substr(3))) : std::nullopt) {
      return id;
    }
  }
  return std::nullopt;
}

}  // namespace

const LocalFormat* LocalFormats::find(std::uint64_t id) {
  if (!by_id_) {
    read();
  }
  const auto found = by_id_->find(id);
  return found == by_id_->end() ? nullptr : &found->second;
}

void LocalFormats::read() {
  by_id_.emplace();
  const auto files = TracepointFiles::open_as_it_is();
  if (!files.ok()) {
    return;
  }
  for (const std::string& name : files.value().find_events("*:*")) {
    auto text = files.value().event_format_text(name);
    const auto id = text.ok() ? id_in(text.value()) : std::nullopt;
    if (id) {
      by_id_->try_emplace(*id, LocalFormat{name, text.take()});
    }
  }
}

}  // namespace memtrace
