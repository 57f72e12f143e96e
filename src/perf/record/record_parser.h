// Bytes of one record to a Record, for the events of a recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "perf/record/id_table.h"
#include "perf/record/passing_ids.h"
#include "perf/record/record.h"
#include "perf/record/sample_layout.h"
#include "perf/record/sample_parser.h"

namespace memtrace {

// Parses records of a set of events that may differ in layout. All events must have the id at the
// same place: PERF_SAMPLE_IDENTIFIER, or one sample_type for all.
class RecordParser {
 public:
  // The position in `layouts` is the event's index in Recording::events.
  void add_event(const SampleLayout& layout, std::span<const std::uint64_t> ids);

  // Samples with these ids are of several events that were added, `first` and others of its layout.
  void share(std::uint32_t first, std::span<const std::uint64_t> ids, SharedNumbers numbers);

  // Asked for ids that no event was added with.
  void set_passing_ids(std::shared_ptr<const PassingIds> ids) { passing_ids_ = std::move(ids); }

  std::size_t event_count() const { return events_.size(); }

  // `bytes` is one whole record, 8-byte aligned, its size field already checked against its
  // length. Error: a sentence saying which record type is malformed.
  Result<Record> parse(std::span<const std::byte> bytes) const;

  // Only the time, for sorting: cheap. 0 when the record carries none.
  std::uint64_t time_ns(std::span<const std::byte> bytes) const;

  // Whether the record of a mapping holds a build id in place of the file's numbers.
  bool has_build_id(std::span<const std::byte> bytes) const;

  // The event with this id (as in EVENT_UPDATE); nothing when no event has it.
  std::optional<std::uint32_t> event_of(std::uint64_t id) const {
    const auto number = numbers_.find(id);
    return number || passing_ids_ == nullptr ? number : passing_ids_->find(id);
  }

 private:
  struct Event {
    SampleParser samples;
    StampPlaces places;
  };

  // The event that a record belongs to; for one without a known id the first.
  const Event* find(std::span<const std::byte> bytes, bool is_sample) const;

  std::vector<Event> events_;
  IdTable numbers_;
  std::shared_ptr<const PassingIds> passing_ids_;  // may be null
  bool uniform_ = true;          // all events have time and id at the same places,
  bool uniform_samples_ = true;  // and at least those in samples
};

}  // namespace memtrace
