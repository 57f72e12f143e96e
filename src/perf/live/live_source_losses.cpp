// What a live source lost, as records between the others.
#include <algorithm>

#include "perf/live/live_source.h"

namespace memtrace {

void LiveSource::note_losses() {
  const auto losses = merge_.take_losses();
  const auto note = [this](const std::vector<LossSpan>& spans, LossReason reason) {
    for (const LossSpan& span : spans) {
      losses_.push_back({{.time_ns = span.last_ns}, Lost{span.count, reason, span.first_ns}, {}});
    }
  };
  note(losses.late, LossReason::Late);
  note(losses.dropped, LossReason::Overload);
  std::ranges::stable_sort(losses_, {}, [](const Record& record) { return record.stamp.time_ns; });
  if (losses.cut > 0) {
    own_records_.push_back({{.time_ns = last_time_ns_}, CutStacks{losses.cut}, {}});
  }
}

// The kernel tells of a loss with the next record that fits into the ring.
void LiveSource::note_span(Record& record) {
  std::uint64_t& newest_ns = newest_by_ring_ns_[record.stamp.stream];
  if (auto* lost = std::get_if<Lost>(&record.payload)) {
    lost->first_ns = newest_ns;
  }
  newest_ns = std::max(newest_ns, record.stamp.time_ns);
}

void LiveSource::note_seen(const Record& record) {
  lost_mappings_.see(record);
  if (const auto* lost = std::get_if<Lost>(&record.payload)) {
    lost_in_records_ += lost->count;
    read_lost_mappings(record.stamp.time_ns);
  }
}

// The kernel writes a lost record only when a later record fits: losses at the very end are known
// from the events' own counters alone (PERF_FORMAT_LOST).
void LiveSource::note_tail_loss() {
  std::uint64_t in_records = lost_in_records_;
  // What merge_ still holds is not given out yet, but told.
  merge_.for_each_ready([&](const RingMerge::Entry& entry) {
    const auto record = parser_.current().parse(entry.bytes());
    if (const auto* lost = record.ok() ? std::get_if<Lost>(&record.value().payload) : nullptr) {
      in_records += lost->count;
    }
  });
  const std::uint64_t counted = events_.read_lost();
  if (counted > in_records) {
    const std::uint64_t first_ns =
        std::max(std::ranges::min(newest_by_ring_ns_), recording_.started_ns);
    own_records_.push_back({.stamp = {.time_ns = last_time_ns_},
                            .payload = Lost{counted - in_records, LossReason::Kernel, first_ns}});
  }
}

}  // namespace memtrace
