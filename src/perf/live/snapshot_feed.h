// What is read from /proc, as records between those of the rings: at the start, and when records
// have been lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "perf/live/mapping_watch.h"
#include "perf/record/record_builder.h"
#include "perf/target/mapping_recovery.h"
#include "perf/target/proc_snapshot.h"
#include "perf/target/target.h"

namespace memtrace {

class SnapshotFeed {
 public:
  // `builder` makes records as the tracking event's are. `target` outlives this.
  SnapshotFeed(RecordBuilder builder, const Target& target, KeptMaps kept)
      : target_(target),
        kept_(kept),
        records_(std::move(builder)),
        recovery_(target.kind == TargetKind::System, kept) {}

  // What runs, as it is now.
  void take();

  // The executable files in it.
  std::vector<NewMapping> mappings(const RecordParser& parser) const;

  // The next of its records; nothing when there are no more.
  std::optional<Record> next(const RecordParser& parser);

  // Each record of the rings: losses among them, and whom they are of.
  void see(const Record& record) { recovery_.see(record); }

  // Reads mappings again if records of them may have been lost. They are given out before any
  // record that is in the rings, with the time of the loss: later mappings, which are reported once
  // more, replace them. Memory that was unmapped may have another mapping by now, for the tenth of
  // a second that a record takes. True when it was read.
  bool read_lost(std::uint64_t time_ns);

 private:
  const Target& target_;
  KeptMaps kept_;
  RecordBuilder records_;
  std::size_t position_ = 0;
  MappingRecovery recovery_;
};

}  // namespace memtrace
