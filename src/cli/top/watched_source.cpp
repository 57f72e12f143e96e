#include "cli/top/watched_source.h"

#include <variant>

namespace memtrace {

Result<std::optional<Record>> WatchedSource::next() {
  constexpr std::uint64_t kRecordsBetweenLooks = 4096;
  auto record = source_.next();
  if (!record.ok() || !record.value()) {
    return record;
  }
  if (std::holds_alternative<Tick>(record.value()->payload) || ++records_ >= kRecordsBetweenLooks) {
    records_ = 0;
    TRY(look_());
  }
  return record;
}

}  // namespace memtrace
