// What a live source says itself between the records of the rings: what was lost, and when, that
// all up to a time has been given out, and what the kernel only counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "perf/event/event_counts.h"
#include "perf/live/ring_merge.h"
#include "perf/live/tick_clock.h"
#include "perf/record/record.h"
#include "perf/record/record_parser.h"

namespace memtrace {

class LossFeed {
 public:
  // `is_monotonic`: the records' clock is CLOCK_MONOTONIC.
  LossFeed(std::size_t ring_count, bool is_monotonic)
      : newest_by_ring_ns_(ring_count), ticks_(is_monotonic) {}

  // Each record of the rings, in order. The kernel reports a loss with the next record that fits
  // into the ring: the loss gets the time of the one before.
  void see(Record& record);

  // The time of the newest record by now.
  std::uint64_t last_time_ns() const { return last_time_ns_; }

  // What the merge has given up.
  void add(const RingMerge::Losses& losses);

  // From then on some events are missing, and nobody knows how many.
  void note_gap(std::uint64_t time_ns);

  // At the end. The kernel writes a lost record only when a later record fits: losses at the very
  // end are known from the events' own counters alone (PERF_FORMAT_LOST). `merge` has what is not
  // given out yet, but counted.
  void add_tail(std::uint64_t counted,
                const RingMerge& merge,
                const RecordParser& parser,
                std::uint64_t started_ns);

  // All records up to `complete_ns` have been given out; it is now_ns by CLOCK_MONOTONIC. Returns
  // the time by the clock of the records.
  std::uint64_t add_tick(std::uint64_t complete_ns, std::uint64_t now_ns);

  // Before all records of the rings that are later: it belongs to the interval that ends there.
  void add_count(std::uint64_t time_ns, const EventCounts::Rise& rise);

  // The next loss if its turn has come between the records of its time, so that intervals count
  // what was lost in them. `all`: no more records will come.
  std::optional<Record> next_loss(const RingMerge& merge, bool all);

  // The next of the losses that wait until the rings have nothing more to give out.
  std::optional<Record> next_own();

 private:
  void insert(const Record& record);

  std::deque<Record> losses_;       // and counts, by time
  std::deque<Record> own_records_;  // ticks and what has no time of its own
  std::vector<std::uint64_t> newest_by_ring_ns_;
  TickClock ticks_;
  std::uint64_t last_time_ns_ = 0;
  std::uint64_t lost_in_records_ = 0;
};

}  // namespace memtrace
