#include "recording/recording_files.h"

#include <fmt/core.h>
#include <unistd.h>

#include <utility>

#include "os/system.h"
#include "perf/target/proc_snapshot.h"
#include "sections/recording_part.h"

namespace memtrace {
RecordingFiles::RecordingFiles(const RecordOptions& options, const LiveSource& source)
    : options_(options),
      source_(source),
      policy_(options.rotation),
      kept_(options.rotation.keep),
      kernel_(options.rotation.is_wanted ? kernel_mapping() : std::nullopt),
      recording_(fmt::format("{:x}-{}", wall_clock_ns(), ::getpid())) {}

std::string RecordingFiles::name_of(std::uint64_t number) const {
  return options_.rotation.is_wanted ? rotated_name(options_.output, number) : options_.output;
}

Result<std::unique_ptr<RecordedFile>> RecordingFiles::create(RecordingFacts about,
                                                             std::string part_json) {
  WriterSetup setup = writer_setup(options_.selected, source_);
  setup.zstd_level = options_.zstd_level;
  setup.stop_signals = options_.live.stop_signals;
  setup.about.command_line = options_.command_line;
  setup.about.part_json = std::move(part_json);
  const std::size_t event_count = setup.events.size();
  auto writer = create_file_writer(name_of(number_ + 1), setup);
  if (!writer.ok()) {
    return writer.take_error();
  }
  ++number_;
  return std::make_unique<RecordedFile>(writer.take(), std::move(about), event_count);
}

Result<std::unique_ptr<RecordedFile>> RecordingFiles::create_first(RecordingFacts about) {
  const RecordingPart part{.recording = recording_, .number = 1};
  auto file = create(std::move(about), options_.rotation.is_wanted ? to_json(part) : "");
  policy_.begin_file(monotonic_ns(), 0);
  return file;
}

bool RecordingFiles::is_due(const RecordedFile& file) {
  if (!options_.rotation.is_wanted || gave_up_) {
    return false;
  }
  StopSignals* signals = options_.live.stop_signals;
  const bool is_asked_for = signals != nullptr && signals->take_user_request();
  return is_asked_for || policy_.is_due({.now_ns = monotonic_ns(),
                                         .file_bytes = file.writer().bytes_written(),
                                         .record_bytes = file.record_bytes()});
}

Result<std::unique_ptr<RecordedFile>> RecordingFiles::create_next(RecordingFacts about,
                                                                  const CarriedState& state,
                                                                  std::uint64_t started_ns) {
  about.earlier_files = number_;
  kept_.make_room(2);  // the one that ends, and the one that begins
  auto file = create(std::move(about),
                     to_json(RecordingPart{.recording = recording_,
                                           .number = number_ + 1,
                                           .state_records = state.record_count(),
                                           .started_ns = started_ns}));
  if (!file.ok()) {
    return file;
  }
  TRY(file.value()->write_each(state.bytes()));
  policy_.begin_file(monotonic_ns(), file.value()->record_bytes());
  return file;
}

void RecordingFiles::finished(const RecordedFile& file) {
  kept_.add(file.writer().created_file());
  kept_.make_room(1);
}

std::string RecordingFiles::names() const {
  if (number_ <= 1) {
    return name_of(1);
  }
  const std::uint64_t first = kept_.removed() + 1;
  return first == number_ ? name_of(number_) : name_of(first) + " to " + name_of(number_);
}

}  // namespace memtrace
