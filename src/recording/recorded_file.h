// One file of a recording: its writer, and what is counted and observed for this file alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "observe/host_facts.h"
#include "perf/event/event_set.h"
#include "perf/file_out/file_writer.h"
#include "perf/live/live_source.h"
#include "perf/record/record.h"
#include "plan/events/event_selection.h"
#include "sections/loss_log.h"
#include "sections/recording_facts.h"

namespace memtrace {

// An event as it goes into a file.
WrittenEvent written_event(const OpenedEvent& event);

// What is known of a recording of this machine before its first record; without command_line,
// zstd_level and stop_signals.
WriterSetup writer_setup(const SelectedEvents& selected, const LiveSource& source);

class RecordedFile {
 public:
  // `event_count`: events in the writer's setup.
  RecordedFile(std::unique_ptr<FileWriter> writer, RecordingFacts about, std::size_t event_count)
      : writer_(std::move(writer)), about_(std::move(about)), written_events_(event_count) {}

  FileWriter& writer() { return *writer_; }

  const FileWriter& writer() const { return *writer_; }

  // What the file says of itself at its end, beside what this class counts.
  RecordingFacts& about() { return about_; }

  Recording& end() { return end_; }

  Result<> write(std::span<const std::byte> record) {
    written_in_round_ = true;
    record_bytes_ += record.size();
    return writer_->write(record);
  }

  // Of all records that were written.
  std::uint64_t record_bytes() const { return record_bytes_; }

  // Several records, one after the other.
  Result<> write_each(std::span<const std::byte> records);

  // Whether anything was written since this was last asked.
  bool take_round() { return std::exchange(written_in_round_, false); }

  // Events that were added since the last call.
  Result<> write_late_events(const std::vector<OpenedEvent>& events);

  bool has_event(std::size_t index) const { return index < written_events_; }

  void saw_sample(std::uint64_t time_ns) {
    end_.first_time_ns = end_.first_time_ns == 0 ? time_ns : end_.first_time_ns;
    end_.last_time_ns = time_ns;
  }

  void count_loss(const Record& record, const Lost& lost);

  // Call it just before the first event. Without, the machine's counters are the file's from its
  // creation on.
  void begin_counting() { vmstat_ = vmstat_counters(); }

  // What happens from now on is not the file's any more. Counts once.
  void end_counting() {
    if (!std::exchange(has_counted_, true)) {
      about_.vmstat = growth_of(vmstat_, vmstat_counters());
    }
  }

  // All is in about() and end() but what was counted here.
  Result<> finish();

 private:
  std::unique_ptr<FileWriter> writer_;
  RecordingFacts about_;
  Recording end_;  // what is written behind the records
  std::size_t written_events_;
  std::uint64_t record_bytes_ = 0;
  LossLog losses_;
  VmstatCounters vmstat_ = vmstat_counters();  // before the first event
  bool has_counted_ = false;
  bool written_in_round_ = false;
};

}  // namespace memtrace
