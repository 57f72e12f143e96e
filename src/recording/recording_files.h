// The files that a recording goes to: one, or several one after the other. Each can be read by
// itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "perf/live/live_source.h"
#include "recording/carried_state.h"
#include "recording/kept_files.h"
#include "recording/recorded_file.h"
#include "recording/recorder.h"
#include "recording/rotation.h"

namespace memtrace {

class RecordingFiles {
 public:
  // Both outlive this.
  RecordingFiles(const RecordOptions& options, const LiveSource& source);

  // Where the kernel lies: read once, as /proc/kallsyms has ten megabytes.
  const std::optional<Mmap>& kernel() const { return kernel_; }

  // The file that the recording begins with.
  Result<std::unique_ptr<RecordedFile>> create_first(RecordingFacts about);

  // Whether `file` is to end now and another one to begin.
  bool is_due(const RecordedFile& file);

  // The next file, with the state at its beginning; older ones may be removed for it.
  Result<std::unique_ptr<RecordedFile>> create_next(RecordingFacts about,
                                                    const CarriedState& state,
                                                    std::uint64_t started_ns);

  // It could not be made: there is no other any more.
  void give_up() { gave_up_ = true; }

  // A file is finished, and another one has been created.
  void finished(const RecordedFile& file);

  std::uint64_t removed() const { return kept_.removed(); }

  // "memtrace.data", "memtrace.data.0001 to memtrace.data.0003".
  std::string names() const;

 private:
  std::string name_of(std::uint64_t number) const;
  Result<std::unique_ptr<RecordedFile>> create(RecordingFacts about, std::string part_json);

  const RecordOptions& options_;
  const LiveSource& source_;
  RotationPolicy policy_;
  KeptFiles kept_;
  std::optional<Mmap> kernel_;
  std::string recording_;     // RecordingPart::recording
  std::uint64_t number_ = 0;  // of the file that was created last
  bool gave_up_ = false;
};

}  // namespace memtrace
