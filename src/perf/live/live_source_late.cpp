// Events that are added to a live source while it runs.
#include <linux/perf_event.h>

#include <cstring>
#include <utility>

#include "os/system.h"
#include "perf/live/live_source.h"
#include "perf/record/perf_format.h"

namespace memtrace {
namespace {

// The executable files of a snapshot of /proc.
std::vector<NewMapping> mappings_in(std::span<const std::byte> snapshot,
                                    const RecordParser& parser) {
  std::vector<NewMapping> mappings;
  while (snapshot.size() >= sizeof(RecordHeader)) {
    const auto bytes = snapshot.first(header_of(snapshot).size_bytes);
    snapshot = snapshot.subspan(bytes.size());
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

}  // namespace

void LiveSource::start_added_events() {
  if (!setup_.choose_added) {
    return;
  }
  const bool by_command = setup_.target.kind == TargetKind::Command;
  late_ = std::make_unique<AddedEventSource>(events_, parser_, setup_.choose_added);
  late_->start({.tids = tids_,
                .inherit = by_command || setup_.target.kind == TargetKind::Processes,
                .enable_on_exec = by_command,
                .features = events_.features()},
               mappings_in(snapshot_.bytes(), parser_.current()));
}

void LiveSource::adopt_added_events() {
  if (!late_ || !late_->has_news()) {
    return;
  }
  AddedEventSource::Taken taken = late_->take();
  for (AddedEvents& late : taken.events) {
    for (const OpenedEvent& event : late.events) {
      recording_.events.push_back(event.request.info);
    }
    events_.adopt(std::move(late));
  }
  recording_.caveats.insert(recording_.caveats.end(), taken.notes.begin(), taken.notes.end());
}

}  // namespace memtrace
