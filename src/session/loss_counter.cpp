#include "session/loss_counter.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/units.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();

void add_loss(Caveats& losses, LossReason reason, std::uint64_t count) {
  switch (reason) {
    case LossReason::Kernel:
      losses.lost += count;
      break;
    case LossReason::Late:
      losses.late += count;
      break;
    case LossReason::Overload:
      losses.overload += count;
      break;
    case LossReason::Malformed:
      losses.malformed += count;
      break;
    case LossReason::DiskFull:
      losses.disk_full += count;
      break;
  }
}

}  // namespace

void LossCounter::count(const Record& record,
                        const Lost& lost,
                        const IntervalClock& clock,
                        std::uint64_t counted_from_ns) {
  const std::uint64_t last_ns = record.stamp.time_ns;
  const std::uint64_t start_ns = clock.span().start_ns;
  if (live_ && clock.has_ended_any() && lost.first_ns != 0 && lost.first_ns < start_ns) {
    before_ += lost.count;
    before_ns_ = std::max(before_ns_, start_ns - lost.first_ns);
  }
  if (clock.first_event_ns() == 0 || clock.setup().window.start_ns == 0 || last_ns == 0) {
    add_loss(losses_, lost.reason, lost.count);
    return;
  }
  attribute({.reason = lost.reason,
             .first_ns = lost.first_ns == 0 ? last_ns : lost.first_ns,
             .last_ns = last_ns,
             .count = lost.count},
            counted_from_ns,
            kForEver);
}

void LossCounter::count_logged(const RecordingFacts& about,
                               const IntervalClock& clock,
                               View::Span span,
                               std::uint64_t counted_from_ns) {
  if (live_ || about.losses.empty()) {
    return;
  }
  losses_ = {.cut = losses_.cut};
  const TimeWindow& window = clock.setup().window;
  const bool is_part = clock.setup().interval_ns != 0;
  const bool has_end = window.stop_ns != TimeWindow{}.stop_ns;
  const std::uint64_t last_ns = has_end ? clock.first_event_ns() + window.stop_ns : kForEver;
  const std::uint64_t first_ns = window.start_ns != 0 ? counted_from_ns : 0;
  for (const LossEntry& loss : about.losses) {
    attribute(loss, is_part ? span.start_ns : first_ns, is_part ? span.end_ns : last_ns);
  }
}

void LossCounter::attribute(const LossEntry& loss, std::uint64_t first_ns, std::uint64_t last_ns) {
  if (loss.last_ns < first_ns || loss.first_ns > last_ns) {
    return;
  }
  if (loss.first_ns < first_ns || loss.last_ns > last_ns) {
    perhaps_ += loss.count;
  } else {
    add_loss(losses_, loss.reason, loss.count);
  }
}

void LossCounter::note(Caveats& caveats) const {
  if (perhaps_ > 0) {
    caveats.notes.push_back("up to " +
                            counted(perhaps_,
                                    "more event may be missing: it was",
                                    "more events may be missing: they were") +
                            " lost in a period that this report covers only in part");
  }
  if (before_ > 0) {
    caveats.notes.push_back(
        fmt::format("{} of the lost events may have been lost up to {} before this interval began: "
                    "they are counted as lost here and not in the tables before",
                    print_count(before_),
                    print_duration(before_ns_)));
  }
}

void LossCounter::doubt_mappings(const Caveats& caveats) {
  mappings_in_doubt_ =
      mappings_in_doubt_ || caveats.lost > 0 || caveats.late > 0 || caveats.malformed > 0;
}

void LossCounter::next_interval() {
  losses_ = {};
  perhaps_ever_ = perhaps_ever_ || perhaps_ > 0;
  perhaps_ = 0;
  before_ = 0;
  before_ns_ = 0;
}

}  // namespace memtrace
