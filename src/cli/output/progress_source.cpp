#include "cli/output/progress_source.h"

namespace memtrace {

// By the times of its records: how large they are is known to the reader of the file alone.
Result<std::optional<Record>> ProgressSource::next() {
  auto record = source_->next();
  if (!record.ok() || !record.value()) {
    progress_.end();
    return record;
  }
  if (++records_ % kRecordsBetweenLooks == 0) {
    const Recording& recording = source_->recording();
    const std::uint64_t time_ns = record.value()->stamp.time_ns;
    const bool is_known = recording.first_time_ns != 0 && time_ns >= recording.first_time_ns &&
                          recording.last_time_ns > recording.first_time_ns;
    progress_.at(is_known ? time_ns - recording.first_time_ns : 0,
                 is_known ? recording.last_time_ns - recording.first_time_ns : 0);
  }
  return record;
}

}  // namespace memtrace
