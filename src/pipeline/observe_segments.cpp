// The System V shared memory segments that exist: /proc/sysvipc/shm of memtrace's own IPC
// namespace.
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "pipeline/observation_readers.h"

namespace memtrace {
namespace {

bool wants(const Event& event) {
  const auto* done = std::get_if<SystemCallDone>(&event.payload);
  return done != nullptr && (done->call == SystemCall::Shmget || done->call == SystemCall::Shmat ||
                             done->call == SystemCall::Shmctl);
}

// A heading with the columns' names and a line for each segment (ipc/shm.c).
void read(const Event& /*event*/, const ProcFolder& proc, Observation& observation) {
  const std::string text = proc.read("sysvipc/shm");
  std::vector<std::string_view> names;
  for (const std::string_view line : split(text, '\n')) {
    auto words = split(line, ' ');
    std::erase(words, std::string_view());
    if (names.empty()) {
      names = words;
      continue;
    }
    Facts segment;
    for (std::size_t i = 0; i < std::min(names.size(), words.size()); ++i) {
      if (const auto number = parse_number(words[i])) {
        segment.numbers[std::string(names[i])] = *number;
      }
    }
    if (!segment.empty()) {
      observation.rows.push_back(std::move(segment));
    }
  }
  if (!names.empty()) {
    observation.facts.numbers["segments"] = observation.rows.size();
  }
}

}  // namespace

constinit const ObservationReader observe_segments{
    .name = "segments", .wants = wants, .read = read, .at_end = true};

}  // namespace memtrace
