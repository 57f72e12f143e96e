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

// The kernel reports a loss with the next record that fits into the ring.
void LiveSource::note_span(Record& record) {
  std::uint64_t& newest_ns = newest_by_ring_ns_[record.stamp.stream];
  if (auto* lost = std::get_if<Lost>(&record.payload)) {
    lost->first_ns = newest_ns;
  }
  newest_ns = std::max(newest_ns, record.stamp.time_ns);
}

void LiveSource::note_seen(const Record& record) {
  mapping_recovery_.see(record);
  if (const auto* lost = std::get_if<Lost>(&record.payload)) {
    lost_in_records_ += lost->count;
    read_lost_mappings(record.stamp.time_ns);
  }
  if (std::holds_alternative<Fork>(record.payload)) {
    note_unfollowed();
  }
}

// A thread or a child has started, where some were named.
void LiveSource::note_unfollowed() {
  const bool is_unfollowed = setup_.target.kind != TargetKind::System &&
                             std::ranges::any_of(events_.events(), [](const OpenedEvent& event) {
                               return is_of_uprobe_pmu(event.request);
                             });
  if (is_unfollowed && !told_unfollowed_) {
    told_unfollowed_ = true;
    recording_.caveats.emplace_back(
        "threads and children that started while recording were not watched by the user probes: "
        "tracefs could not be used, and the kernel's uprobe PMU does not follow them; "
        "--all-processes watches those of the whole machine");
  }
}

// The kernel writes a lost record only when a later record fits: losses at the very end are known
// from the events' own counters alone (PERF_FORMAT_LOST).
void LiveSource::note_tail_loss() {
  std::uint64_t in_records = lost_in_records_;
  // What merge_ still holds is not given out yet, but counted.
  merge_.for_each_ready([&](const RingMerge::Entry& entry) {
    const auto record = parser_.current().parse(entry.bytes());
    if (const auto* lost = record.ok() ? std::get_if<Lost>(&record.value().payload) : nullptr) {
      in_records += lost->count;
    }
  });
  const std::uint64_t counted = events_.lost();
  if (counted > in_records) {
    const std::uint64_t first_ns =
        std::max(std::ranges::min(newest_by_ring_ns_), recording_.started_ns);
    own_records_.push_back({.stamp = {.time_ns = last_time_ns_},
                            .payload = Lost{counted - in_records, LossReason::Kernel, first_ns}});
  }
}

}  // namespace memtrace
