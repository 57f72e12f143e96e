// What is known about a recording as a whole: its events, the machine it was made on, and the
// sections of the file that are not records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace memtrace {

enum class EventKind : std::uint8_t { Tracepoint, Software, Other };

// One event that was recorded.
struct EventInfo {
  std::string name;  // "kmem:kmalloc", "page-faults"
  EventKind kind = EventKind::Other;
  std::uint64_t config = 0;  // a tracepoint's id, or PERF_COUNT_SW_*
  std::uint64_t period = 1;  // hits per sample; 0: sampled by frequency
  // More than 1: it was watched in windows. Each cycle of cycle_ns has window_share slots, and one
  // of them, drawn at random, was watched (perf/pace/event_gates.h). `period` is then that of its
  // samples times window_share.
  std::uint64_t window_share = 1;
  std::uint64_t cycle_ns = 0;
  std::string format;        // text of its tracefs format file; empty when there is none
  bool is_tracking = false;  // a dummy that carries mmap, comm, fork and exit only
  bool is_clock = false;     // cpu-clock, task-clock: its period is a time, one sample one hit
  // While recording: what it says may be of others than the process that it comes in.
  bool is_of_anybody = false;
  bool is_counted = false;  // its samples are another event's: they have none of its fields
};

struct BuildIdEntry {
  std::string path;
  std::string build_id;  // lower-case hex
  bool kernel = false;   // the kernel or one of its modules
};

// One moment by two clocks.
struct ClockPair {
  std::uint64_t record_ns = 0;  // of the records
  std::uint64_t wall_ns = 0;    // CLOCK_REALTIME; 0: the pair is not known

  bool is_known() const { return wall_ns != 0; }

  // Of any other moment. Differences may be negative: sums of unsigned numbers wrap around.
  std::uint64_t wall_of(std::uint64_t time_ns) const { return wall_ns + (time_ns - record_ns); }

  std::uint64_t record_of(std::uint64_t time_ns) const { return record_ns + (time_ns - wall_ns); }
};

struct Recording {
  std::vector<EventInfo> events;  // may grow while a pipe is read, never shrinks
  bool tells_exec = true;         // a record of a new name says whether it comes of an exec (3.16)
  std::string host_name;
  std::string kernel_release;
  std::string architecture;
  std::string cpu_description;  // "model name" of /proc/cpuinfo
  std::string tool_version;
  std::vector<std::string> command_line;
  std::uint32_t cpus_available = 0, cpus_online = 0;
  std::uint64_t total_memory_bytes = 0;
  std::uint64_t mapping_reads = 0;  // how often mappings were read again, after losses
  std::uint32_t page_size_bytes = 4096;
  std::uint64_t first_time_ns = 0, last_time_ns = 0;  // 0 when the file does not say
  // For a live source: when its last event had been enabled, and when its first one was disabled.
  // Between them all events were watched. 0: not yet, or the records' clock cannot be read.
  std::uint64_t started_ns = 0, stopped_ns = 0;
  ClockPair clock;  // of the start, or of the start of perf
  std::vector<BuildIdEntry> build_ids;
  // JSON that memtrace record put into the file (feature sections kSymbolsFeature and
  // kAboutFeature); empty for other tools' files.
  std::string symbols_json;
  std::string about_json;
  // Users and cgroups of processes, as memtrace record found them (feature section
  // kIdentitiesFeature): lines, that a pipe brings in pieces.
  std::string identities;
  // Of one file of several: which (feature section kPartFeature).
  std::string part_json;
  std::vector<std::string> caveats;  // what was wrong with the file, in sentences
};

}  // namespace memtrace
