#include "perf/file_in/file_losses.h"

#include <linux/perf_event.h>

#include <algorithm>

#include "perf/record/perf_format.h"

namespace memtrace {

std::optional<Record> FileLosses::next_late(std::uint64_t late_count, std::uint64_t time_ns) {
  const std::uint64_t late = late_count - late_told_;
  late_told_ = late_count;
  if (late == 0) {
    return std::nullopt;
  }
  return Record{.stamp = {.time_ns = time_ns}, .payload = Lost{late, LossReason::Late}};
}

// perf record of 6.1 and later writes at its end, without a time, what each event lost in all
// (LOST_SAMPLES from PERF_FORMAT_LOST). LOST records reported the same losses when they happened,
// except those after the last LOST record.
void FileLosses::count_once(Record& record) {
  auto& lost = std::get<Lost>(record.payload);
  if (header_of(record.bytes).type == PERF_RECORD_LOST) {
    lost_count_ += lost.count;
  } else if (record.stamp.time_ns == 0) {
    const std::uint64_t known = std::min(lost_count_, lost.count);
    lost_count_ -= known;
    lost.count -= known;
  }
}

}  // namespace memtrace
