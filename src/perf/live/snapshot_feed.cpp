#include "perf/live/snapshot_feed.h"

#include "os/system.h"
#include "perf/record/perf_format.h"

namespace memtrace {

void SnapshotFeed::take() {
  snapshot_kernel(records_);
  if (target_.kind == TargetKind::System) {
    (void)snapshot_all_processes(records_, kept_);  // without /proc, samples have no names; no more
    return;
  }
  for (const std::uint32_t id : target_.ids) {
    const auto pid = process_of(id);
    recovery_.watch(pid.ok() ? pid.value() : id);
    if (pid.ok() && target_.kind != TargetKind::Command) {
      snapshot_process(pid.value(), records_, kept_);
    }
  }
}

std::vector<NewMapping> SnapshotFeed::mappings(const RecordParser& parser) const {
  std::vector<NewMapping> mappings;
  auto rest = records_.bytes();
  while (rest.size() >= sizeof(RecordHeader)) {
    const auto bytes = rest.first(header_of(rest).size_bytes);
    rest = rest.subspan(bytes.size());
    const auto record = parser.parse(bytes);
    const auto* mmap = record.ok() ? std::get_if<Mmap>(&record.value().payload) : nullptr;
    if (mmap != nullptr && mmap->executable && mmap->mode == CpuMode::User &&
        mmap->path.starts_with('/')) {
      mappings.push_back(NewMapping::of(record.value(), *mmap));
      mappings.back().time_ns = monotonic_ns();
    }
  }
  return mappings;
}

std::optional<Record> SnapshotFeed::next(const RecordParser& parser) {
  const auto rest = records_.bytes().subspan(position_);
  if (rest.empty()) {
    return std::nullopt;
  }
  const auto bytes = rest.first(header_of(rest).size_bytes);
  position_ += bytes.size();
  auto record = parser.parse(bytes);
  return record.ok() ? record.take() : Record{.payload = Lost{1, LossReason::Malformed}};
}

bool SnapshotFeed::read_lost(std::uint64_t time_ns) {
  if (!recovery_.is_due(monotonic_ns())) {
    return false;
  }
  records_.clear();
  position_ = 0;
  records_.set_time(time_ns);
  // Nothing more is lost, but a call that has begun is not what these mappings come of.
  records_.lost(0, time_ns);
  recovery_.read(records_);
  return true;
}

}  // namespace memtrace
