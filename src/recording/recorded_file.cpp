#include "recording/recorded_file.h"

#include <ctime>
#include <utility>

#include "os/system.h"
#include "perf/record/perf_format.h"

namespace memtrace {
namespace {

std::vector<std::byte> attr_bytes(const perf_event_attr& attr) {
  const auto bytes = std::as_bytes(std::span(&attr, 1)).first(attr.size);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

WrittenEvent written_event(const OpenedEvent& event) {
  return {.info = event.request.info,
          .attr = attr_bytes(file_attr(event.attr, event.request)),
          .ids = event.ids};
}

WriterSetup writer_setup(const SelectedEvents& selected, const LiveSource& source) {
  WriterSetup setup{.header_page = selected.header_page,
                    .header_event = selected.header_event,
                    .about = read_host_facts(),
                    .clock_id = CLOCK_MONOTONIC,
                    .has_clock = source.monotonic_clock(),
                    .wall_clock_ns = wall_clock_ns(),
                    .trace_clock_ns = monotonic_ns()};
  for (const OpenedEvent& event : source.events()) {
    setup.events.push_back(written_event(event));
  }
  return setup;
}

Result<> RecordedFile::write_late_events(const std::vector<OpenedEvent>& events) {
  std::vector<WrittenEvent> late;
  for (; written_events_ < events.size(); ++written_events_) {
    late.push_back(written_event(events[written_events_]));
  }
  return late.empty() ? Result<>(kDone) : writer_->add_events(late);
}

Result<> RecordedFile::write_each(std::span<const std::byte> records) {
  while (!records.empty()) {
    const std::size_t size_bytes = header_of(records).size_bytes;
    TRY(write(records.first(size_bytes)));
    records = records.subspan(size_bytes);
  }
  return kDone;
}

void RecordedFile::count_loss(const Record& record, const Lost& lost) {
  losses_.add(record, lost);
  switch (lost.reason) {
    case LossReason::Late:
      about_.late += lost.count;
      break;
    case LossReason::Malformed:
      about_.malformed += lost.count;
      break;
    case LossReason::Overload:
      about_.overload += lost.count;
      break;
    default:
      break;
  }
}

Result<> RecordedFile::finish() {
  about_.disk_full = writer_->samples_lost();
  about_.losses = losses_.entries();
  end_.about_json = to_json(about_);
  writer_->set_about([about = about_](std::uint64_t samples_lost) mutable {
    about.disk_full = samples_lost;
    return to_json(about);
  });
  return writer_->finish(end_);
}

}  // namespace memtrace
