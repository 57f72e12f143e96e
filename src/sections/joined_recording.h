// What several files say of themselves, as if they were one recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "perf/record/recording.h"
#include "sections/recording_facts.h"
#include "sections/recording_part.h"

namespace memtrace {

struct JoinedFile {
  std::string path;
  Recording recording;
  RecordingPart part;
  RecordingFacts facts;
  std::size_t given = 0;  // its place in the order that the user gave

  static JoinedFile of(std::string path, Recording recording);

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

// A file has the names of the files before it of the same recording, too: of these two, where the
// last of `files` is one, only the later one keeps them. The names of many files would be most of
// the memory.
void release_repeated_names(std::vector<JoinedFile>& files);

// `files` in order of time. All but the events, which the reader of the records puts together.
Recording join_recordings(std::vector<JoinedFile> files);

}  // namespace memtrace
