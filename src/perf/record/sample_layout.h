// The meaning of a record's bytes, for one event's attr: computed once, used for every record.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "perf/record/id_table.h"
#include "perf/record/record.h"

namespace memtrace {

struct SampleLayout {
  std::uint64_t sample_type = 0;     // PERF_SAMPLE_*
  std::uint64_t read_format = 0;     // PERF_FORMAT_*
  std::uint64_t registers_user = 0;  // sample_regs_user
  std::uint64_t registers_intr = 0;
  std::uint64_t branch_sample_type = 0;
  std::uint64_t period = 1;  // attr.sample_period; 0 when freq
  bool sample_id_all = false;
  bool build_ids = false;  // records of mappings may have them

  static SampleLayout of(const perf_event_attr& attr);

  friend bool operator==(const SampleLayout&, const SampleLayout&) = default;
};

// Where time and id lie: in a sample they are counted from its start, in other records from their
// end, where sample_id_all puts a trailer {TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER}. 0: not
// there.
struct StampPlaces {
  std::size_t sample_time = 0, sample_id = 0;
  std::size_t trailer_time = 0, trailer_id = 0;  // bytes before the record's end
  std::size_t trailer_size_bytes = 0;

  static StampPlaces of(const SampleLayout& layout);

  friend bool operator==(const StampPlaces&, const StampPlaces&) = default;
};

// For an event that several probes share (perf/event/event_attr.h, SharedProbe): our probe for a
// sample's number.
struct SharedNumbers {
  std::uint32_t offset = 0;  // of the u32 in the raw data
  std::unordered_map<std::uint32_t, std::uint32_t> events = {};
};

// Parses records of a set of events that may differ in layout. All events must have the id at the
// same place: PERF_SAMPLE_IDENTIFIER, or one sample_type for all.
class RecordParser {
 public:
  // The position in `layouts` is the event's index in Recording::events.
  void add_event(const SampleLayout& layout, std::span<const std::uint64_t> ids);

  // Samples with these ids are of several events that were added, `first` and others of its layout.
  void share(std::uint32_t first, std::span<const std::uint64_t> ids, SharedNumbers numbers);

  std::size_t event_count() const { return events_.size(); }

  // `bytes` is one whole record, 8-byte aligned, its size field already checked against its
  // length. Error: a sentence saying which record type is malformed.
  Result<Record> parse(std::span<const std::byte> bytes) const;

  // Only the time, for sorting: cheap. 0 when the record carries none.
  std::uint64_t time_ns(std::span<const std::byte> bytes) const;

  // Whether the record of a mapping holds a build id in place of the file's numbers.
  bool has_build_id(std::span<const std::byte> bytes) const;

  // The event with this id (as in EVENT_UPDATE); nothing when no event has it.
  std::optional<std::uint32_t> event_of(std::uint64_t id) const { return numbers_.find(id); }

 private:
  struct Event {
    SampleLayout layout;
    StampPlaces places;
    std::shared_ptr<const SharedNumbers> shared = {};
  };

  // The event that a record belongs to; for one without a known id the first.
  const Event* find(std::span<const std::byte> bytes, bool is_sample) const;
  Result<Record> parse_sample(std::span<const std::byte> bytes) const;
  Result<Record> parse_sample_of(const Event& event, std::span<const std::byte> bytes) const;

  std::vector<Event> events_;
  IdTable numbers_;
  bool uniform_ = true;          // all events have time and id at the same places,
  bool uniform_samples_ = true;  // and at least those in samples
};

}  // namespace memtrace
