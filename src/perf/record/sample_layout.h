// The meaning of a record's bytes, for one event's attr: computed once, used for every record.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>

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

}  // namespace memtrace
