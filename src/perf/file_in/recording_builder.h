// Collects what a file says about itself, from wherever it says it: sections of a file, memtrace's
// early copy, or records of a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "perf/file_in/group_counts.h"
#include "perf/record/record_parser.h"
#include "perf/record/recording.h"
#include "perf/record/tracing_data.h"

namespace memtrace {

class RecordingBuilder {
 public:
  using Bytes = std::span<const std::byte>;

  // One struct perf_event_attr of any age and size.
  void add_event(Bytes attr, std::span<const std::uint64_t> ids);

  // One feature section by its number; those of no use are passed over. Pieces of memtrace's own
  // sections follow one another. A damaged section becomes a caveat.
  void add_feature(std::uint32_t feature, Bytes body);

  // One BUILD_ID record with its header.
  void add_build_id(Bytes record);

  void name_event(std::uint64_t id, std::string_view name);
  void describe_event(std::uint64_t id, std::string_view name, std::string_view format);

  // Each sentence once.
  void add_caveat(std::string sentence);

  // Gives tracepoints their format texts and names to those that are still without one: to be
  // called when features have been added.
  void complete_events();

  // What complete_events() did not find will not come any more.
  void note_missing_formats();

  const Recording& recording() const { return recording_; }

  // See RecordSource: of many files that are open at once they would take most of the memory.
  void release_texts();

  const RecordParser& parser() const { return parser_; }

  GroupCounts& group_counts() { return group_counts_; }

 private:
  void read_tracing_data(Bytes body);
  void read_event_descriptions(Bytes body);
  void read_build_ids(Bytes body);
  bool read_machine_feature(std::uint32_t feature, Bytes body);
  bool read_time_or_own_feature(std::uint32_t feature, Bytes body);
  const TracepointFormat* format_of(const EventInfo& event) const;
  void complete_event(EventInfo& event);

  Recording recording_;
  RecordParser parser_;
  GroupCounts group_counts_;
  std::vector<std::uint32_t> types_;  // PERF_TYPE_* of each event
  std::vector<TracepointFormat> formats_;
  std::unordered_map<std::uint64_t, std::size_t> format_numbers_;  // by TracepointFormat::id
  std::size_t format_bytes_ = 0;                                   // that events have got
};

}  // namespace memtrace
