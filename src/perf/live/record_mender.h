// Puts right what the kernel writes wrongly into our rings while others watch the same things.
//
// - A sample of a software event. All events of one fault share one perf_sample_data
//   (kernel/events/core.c, do_perf_sw_event()), and what the first of them filled in is not
//   computed again for the next (perf_prepare_sample(), sample_flags, since Linux 6.3): id, time by
//   the first one's clock, callchain, the size of registers and of the copied stack.
//   perf_tp_event() starts afresh for each event.
// - The record of a mapping. Its header is shared, too, and once an event that asked for build ids
//   has set PERF_RECORD_MISC_MMAP_BUILD_ID in it, the bit stays (perf_event_mmap_output(), 5.12).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "perf/record/record_parser.h"

namespace memtrace {

struct OpenedEvent;

class RecordMender {
 public:
  explicit RecordMender(std::span<const OpenedEvent> events);

  // Whether mend() has something to do. `record` is whole.
  bool is_wrong(std::span<const std::byte> record, const RecordParser& parser) const;

  // Whether a sample with an id of ours has a time before that of the record before it in its ring:
  // by another recorder's clock. One whose only event asks for no id fills in the time alone.
  bool is_early(std::span<const std::byte> record,
                const RecordParser& parser,
                std::uint64_t newest_ns) const;

  // Where and when it was written, as far as it is known without its own time: CLOCK_MONOTONIC,
  // which is the records' clock. highest_ns 0: they have another clock, and their times stay.
  struct Written {
    std::uint64_t lowest_ns = 0;
    std::uint64_t highest_ns = 0;
    std::uint32_t cpu = 0;
  };

  // In place. Its size afterwards: never larger.
  std::size_t mend(std::span<std::uint64_t> record, Written written) const;

  // Of a record that is_early().
  void mend_early(std::span<std::uint64_t> record, Written written) const;

 private:
  // A software event that may share its data with another's.
  struct Shared {
    std::uint64_t id = 0;
    std::uint32_t number = 0;  // of the event
    std::uint64_t sample_type = 0;
    std::uint64_t registers = 0;
    StampPlaces places;
    bool has_user_chain = true;  // that it asked for
  };

  const Shared* owner_of(std::span<const std::uint64_t> sample, std::uint32_t cpu) const;
  static void mend_time(std::span<std::uint64_t> sample, const Shared& owner, Written written);
  static std::size_t mend_body(std::span<std::uint64_t> sample, const Shared& owner);

  std::vector<Shared> events_;
};

}  // namespace memtrace
