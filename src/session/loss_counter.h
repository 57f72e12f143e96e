// How many events are missing from the interval that is being reported, as far as it can be told
// which interval a loss was in.
#pragma once

#include <cstdint>

#include "perf/record/record.h"
#include "report/report.h"
#include "sections/recording_facts.h"
#include "session/interval_clock.h"

namespace memtrace {

class LossCounter {
 public:
  // `live`: the source is this machine's kernel.
  explicit LossCounter(bool live) : live_(live) {}

  // For a live source, and for files whose records are all that is known of their losses.
  void count(const Record& record,
             const Lost& lost,
             const IntervalClock& clock,
             std::uint64_t counted_from_ns);

  void count_cut_stacks(std::uint64_t count) { losses_.cut += count; }

  // A file that lists its losses: with their reasons, and with the times that they may be of. It
  // takes the place of what was counted; nothing happens without a list.
  void count_logged(const RecordingFacts& about,
                    const IntervalClock& clock,
                    View::Span span,
                    std::uint64_t counted_from_ns);

  // The figures of a report's caveats, without notes.
  const Caveats& losses() const { return losses_; }

  // Says what cannot be put to one interval.
  void note(Caveats& caveats) const;

  // Once records may be missing, those of mappings may be among them, and nothing says later that a
  // range was unmapped. `caveats` are a report's.
  void doubt_mappings(const Caveats& caveats);

  bool are_mappings_in_doubt() const { return mappings_in_doubt_; }

  // A loss may have been in an interval that ended before.
  bool was_perhaps_before() const { return perhaps_ever_; }

  // The interval has been reported.
  void next_interval();

 private:
  void attribute(const LossEntry& loss, std::uint64_t first_ns, std::uint64_t last_ns);

  bool live_;
  Caveats losses_;               // of this interval
  std::uint64_t perhaps_ = 0;    // in this interval, or shortly before or after it
  bool perhaps_ever_ = false;    // in any interval before
  std::uint64_t before_ = 0;     // of what is counted in this one: perhaps lost up to before_ns_
  std::uint64_t before_ns_ = 0;  // earlier
  bool mappings_in_doubt_ = false;
};

}  // namespace memtrace
