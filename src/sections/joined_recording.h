// What several files say of themselves, as if they were one recording.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "perf/record/recording.h"
#include "sections/recording_facts.h"
#include "sections/recording_part.h"

namespace memtrace {

struct JoinedFile {
  std::string path;
  const Recording* recording = nullptr;
  RecordingPart part;
  RecordingFacts facts;

  static JoinedFile of(std::string path, const Recording& recording);

  // When it began and ended, on the records' clock; 0: the file does not say.
  std::uint64_t started_ns() const;
  std::uint64_t stopped_ns() const;

  // Nothing happened between that file and this one.
  bool follows(const JoinedFile& other) const {
    return is_of_recording_of(other) && part.number == other.part.number + 1;
  }

  bool is_of_recording_of(const JoinedFile& other) const {
    return part.number != 0 && part.recording == other.part.recording;
  }
};

// `files` in order of time. All but the events, which the reader of the records puts together.
Recording join_recordings(std::span<const JoinedFile> files);

}  // namespace memtrace
