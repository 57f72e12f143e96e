#include "observe/local_formats.h"

#include "base/text.h"
#include "tracepoints/format/tracefs.h"

namespace memtrace {

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
    for (const std::string_view line :
         text.ok() ? split(text.value(), '\n') : std::vector<std::string_view>()) {
      const auto id = line.starts_with("ID:") ? parse_number(trim(line.substr(3))) : std::nullopt;
      if (id) {
        by_id_->try_emplace(*id, LocalFormat{name, text.take()});
        break;
      }
    }
  }
}

}  // namespace memtrace
