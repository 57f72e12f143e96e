// Which part of a recording a file holds, when the recording goes to several files one after the
// other: JSON in a feature section that stands before the records, so that a file that was never
// finished has it too.
#pragma once

#include <cstdint>
#include <string>

namespace memtrace {

struct RecordingPart {
  std::string recording;     // the same in all of its files, unlike for others
  std::uint64_t number = 0;  // from 1; 0: the recording is one file
  // With this number of records the file begins: they say what the records of the files before it
  // have come to, and what follows them follows those.
  std::uint64_t state_records = 0;
  std::uint64_t started_ns = 0;  // when the file begins, on the records' clock

  friend bool operator==(const RecordingPart&, const RecordingPart&) = default;
};

std::string to_json(const RecordingPart& part);

// Anything that is missing or not understood stays at its default.
RecordingPart parse_recording_part(const std::string& text);

}  // namespace memtrace
