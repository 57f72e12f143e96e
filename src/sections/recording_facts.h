// What a recording says of itself beyond what perf has a place for, as JSON in a feature section
// that perf skips.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "perf/record/watched_window.h"
#include "sections/loss_log.h"
#include "sections/watch_facts.h"
#include "state/world/observations.h"

namespace memtrace {

struct RecordingFacts {
  std::string target;                     // "the whole machine", "process 12", a command line
  std::string boot_id;                    // /proc/sys/kernel/random/boot_id; "": not known
  bool whole_machine = true;              // false: some tasks only
  std::vector<std::string> migratetypes;  // page allocator's names by number
  std::map<std::string, std::uint64_t> slab_caches;  // bytes of an object, by cache
  std::vector<std::uint32_t> cpu_nodes;              // NUMA node by CPU
  std::map<std::string, std::string> filters;        // events that were not recorded whole
  std::vector<std::string> limited;                  // events that the kernel filters
  // The growth of /proc/vmstat's counters during the recording.
  std::map<std::string, std::uint64_t> vmstat;
  std::vector<std::string> notes;  // sentences for the reader of a report
  // Those of them on samples that came, which do not explain why others did not.
  std::vector<std::string> notes_of_samples;
  std::vector<Observation> observations;  // what /proc said at some events
  std::uint64_t observations_skipped = 0;
  std::uint64_t mapping_reads = 0;  // from /proc, after losses
  std::uint64_t own_samples = 0;    // memtrace's own events, left out
  // The same by event, with those that have none. Empty: not known.
  std::map<std::string, std::uint64_t> own_events;
  // When all events had been enabled, and when the first was disabled; 0: not known.
  std::uint64_t started_ns = 0;
  std::uint64_t stopped_ns = 0;
  // All of them, those that stand in the records, too. Empty: of an older memtrace.
  std::vector<LossEntry> losses;
  // The part of the recorded losses that memtrace caused, not the kernel.
  std::uint64_t late = 0;
  std::uint64_t overload = 0;
  std::uint64_t malformed = 0;
  std::uint64_t cut_stacks = 0;
  std::uint64_t disk_full = 0;
  // Files of the same recording before this one, whose events are not in it.
  std::uint64_t earlier_files = 0;
  WatchFacts watch;
  // In which events were watched whose periods have a window_share (EventInfo), at most
  // kMaxWindows: a list for the reader, that reports do without.
  std::vector<WatchedWindow> windows;
};

inline constexpr std::size_t kMaxWindows = 36'000;  // an hour's

// What was counted from one moment to another, by name. A name that was not known then had nothing.
std::map<std::string, std::uint64_t> counted_since(
    const std::map<std::string, std::uint64_t>& before,
    const std::map<std::string, std::uint64_t>& now);

std::string to_json(const RecordingFacts& about);

// Anything that is missing or not understood stays at its default: a file of a later version.
RecordingFacts parse_recording_facts(const std::string& text);

}  // namespace memtrace
