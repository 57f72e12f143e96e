// What a recording has come to, as one line on the terminal that changes once a second:
//
//   12 s  155,031 events/s  none lost  25.1 MiB  29 % of a CPU  134.2 MiB of memory
#pragma once

#include <cstdint>
#include <string>

namespace memtrace {

// Since the start of the recording, but for memory_bytes.
struct RecordingProgress {
  std::uint64_t time_ns = 0;
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t cpu_ns = 0;        // of memtrace itself
  std::uint64_t memory_bytes = 0;  // resident, of memtrace itself; 0: not known
};

// Rates are those since `before`.
std::string status_text(const RecordingProgress& now, const RecordingProgress& before);

class StatusLine {
 public:
  // `wanted`: else nothing is ever shown.
  explicit StatusLine(bool wanted);

  // May be called at any rate: a look at the clock, mostly.
  void show(std::uint64_t samples, std::uint64_t lost, std::uint64_t file_bytes);

  // Removes it. No line is shown any more.
  void end();

 private:
  bool is_wanted_;
  std::uint64_t started_ns_;
  RecordingProgress last_;
};

}  // namespace memtrace
