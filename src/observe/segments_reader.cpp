// The System V shared memory segments that exist: /proc/sysvipc/shm of memtrace's own IPC
// namespace.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "observe/proc_readers.h"
#include "os/procfs.h"

namespace memtrace::segments_reader {
namespace {

bool wants(const Event& event) {
  const auto* done = std::get_if<SystemCallDone>(&event.payload);
  return done != nullptr && (done->call == SystemCall::Shmget || done->call == SystemCall::Shmat ||
                             done->call == SystemCall::Shmctl);
}

Facts segment_of(const std::vector<std::string_view>& names, std::string_view line) {
  const auto words = proc_words(line);
  Facts segment;
  for (std::size_t i = 0; i < std::min(names.size(), words.size()); ++i) {
    if (const auto number = parse_number(words[i])) {
      segment.numbers[std::string(names[i])] = *number;
    }
  }
  return segment;
}

// A heading with the columns' names and a line for each segment (ipc/shm.c).
void read(const Event& /*event*/, const ProcFolder& proc, Observation& observation) {
  const std::string text = proc.read("sysvipc/shm");
  const auto lines = split(text, '\n');
  const auto names = proc_words(lines.empty() ? std::string_view() : lines.front());
  if (names.empty()) {
    return;
  }
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (Facts segment = segment_of(names, lines[i]); !segment.empty()) {
      observation.rows.push_back(std::move(segment));
    }
  }
  observation.facts.numbers["segments"] = observation.rows.size();
}

}  // namespace
}  // namespace memtrace::segments_reader

namespace memtrace {

constinit const ObservationReader observe_segments{.name = "segments",
                                                   .wants = segments_reader::wants,
                                                   .read = segments_reader::read,
                                                   .at_end = true};

}  // namespace memtrace
