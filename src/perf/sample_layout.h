// Which bytes of a record mean what, for one event's attr: computed once, used for every record.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "perf/record.h"

namespace memtrace {

struct SampleLayout {
  std::uint64_t sample_type = 0;     // PERF_SAMPLE_*
  std::uint64_t read_format = 0;     // PERF_FORMAT_*
  std::uint64_t registers_user = 0;  // sample_regs_user
  std::uint64_t registers_intr = 0;
  std::uint64_t branch_sample_type = 0;
  std::uint64_t period = 1;  // attr.sample_period; 0 when freq
  bool sample_id_all = false;

  static SampleLayout of(const perf_event_attr& attr);
};

// Parses records of a set of events that may differ in layout. All events must have the id at the
// same place: PERF_SAMPLE_IDENTIFIER, or one sample_type for all.
class RecordParser {
 public:
  // The position in `layouts` is the event's index in Recording::events.
  void add_event(const SampleLayout& layout, std::span<const std::uint64_t> ids);

  // `bytes` is one whole record, 8-byte aligned, its size field already checked against its
  // length. Error: a sentence saying which record type is malformed.
  Result<Record> parse(std::span<const std::byte> bytes) const;

  // Only the time, for sorting: cheap. 0 when the record carries none.
  std::uint64_t time_ns(std::span<const std::byte> bytes) const;

 private:
  // See sample_layout.cpp.
  struct Event {
    SampleLayout layout;
    std::vector<std::uint64_t> ids;
  };

  const Event* find(std::uint64_t id) const;

  std::vector<Event> events_;
};

}  // namespace memtrace
