// What a live source reads from /proc, as records between the others: at the start, and when
// records have been lost.
#include "os/system.h"
#include "perf/live/live_source.h"
#include "perf/record/perf_format.h"
#include "perf/target/proc_snapshot.h"

namespace memtrace {

KeptMaps LiveSource::kept_maps() const {
  return setup_.data_mappings ? KeptMaps::All : KeptMaps::Executable;
}

void LiveSource::take_snapshot() {
  snapshot_kernel(snapshot_);
  const KeptMaps kept = kept_maps();
  if (setup_.target.kind == TargetKind::System) {
    (void)snapshot_all_processes(snapshot_, kept);  // without /proc, samples have no names; no more
    return;
  }
  for (const std::uint32_t id : setup_.target.ids) {
    const auto pid = process_of(id);
    mapping_recovery_.watch(pid.ok() ? pid.value() : id);
    if (pid.ok() && setup_.target.kind != TargetKind::Command) {
      snapshot_process(pid.value(), snapshot_, kept);
    }
  }
}

std::optional<Record> LiveSource::next_snapshot_record() {
  const auto rest = snapshot_.bytes().subspan(snapshot_position_);
  if (rest.empty()) {
    return std::nullopt;
  }
  const auto bytes = rest.first(header_of(rest).size_bytes);
  snapshot_position_ += bytes.size();
  auto record = parser_.current().parse(bytes);
  return record.ok() ? record.take() : Record{.payload = Lost{1, LossReason::Malformed}};
}

// They are given out before any record that is in the rings, with the time of the loss: later
// mappings, which are reported once more, replace them. Memory that was unmapped may have another
// mapping by now, for the tenth of a second that a record takes.
void LiveSource::read_lost_mappings(std::uint64_t time_ns) {
  if (!mapping_recovery_.is_due(monotonic_ns())) {
    return;
  }
  snapshot_.clear();
  snapshot_position_ = 0;
  snapshot_.set_time(time_ns);
  // Nothing more is lost, but a call that has begun is not what these mappings come of.
  snapshot_.lost(0, time_ns);
  mapping_recovery_.read(snapshot_);
  ++recording_.mapping_reads;
}

}  // namespace memtrace
