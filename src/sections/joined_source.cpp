#include "sections/joined_source.h"

#include <algorithm>
#include <utility>

namespace memtrace {
namespace {

// One event of the same recorder in two files.
bool is_same(const EventInfo& a, const EventInfo& b) {
  return a.name == b.name && a.kind == b.kind && a.config == b.config && a.period == b.period &&
         a.format == b.format && a.is_tracking == b.is_tracking && a.is_counted == b.is_counted &&
         a.is_clock == b.is_clock;
}

Error two_reports(const JoinedFile& a, const JoinedFile& b, const std::string& why) {
  return Error{a.path + " and " + b.path + " " + why, 0, "make a report of each"};
}

Result<> check_pair(const JoinedFile& before, const JoinedFile& after) {
  if (after.is_of_recording_of(before) && after.part.number == before.part.number) {
    return two_reports(before, after, "are the same part of one recording");
  }
  if (before.recording.host_name != after.recording.host_name) {
    return two_reports(before, after, "were recorded on two machines");
  }
  const bool overlap = before.stopped_ns() != 0 && after.started_ns() < before.stopped_ns();
  if (overlap && !after.is_of_recording_of(before)) {
    return two_reports(before, after, "were recorded at the same time");
  }
  return kDone;
}

}  // namespace

// Of all files only what they say of themselves is in memory, without what others say again.
Result<JoinedSource::Sources> JoinedSource::open(std::vector<File> files,
                                                 std::vector<JoinedFile>& opened) {
  Sources sources;
  for (File& file : files) {
    auto source = file.open();
    if (!source.ok()) {
      return source.take_error();
    }
    opened.push_back(JoinedFile::of(std::move(file.path), source.value()->recording()));
    opened.back().given = sources.size();
    release_repeated_names(opened);
    source.value()->release_texts();
    sources.push_back(source.take());
  }
  return sources;
}

Result<std::unique_ptr<RecordSource>> JoinedSource::create(std::vector<File> files) {
  std::vector<JoinedFile> opened;
  auto sources = open(std::move(files), opened);
  if (!sources.ok()) {
    return sources.take_error();
  }
  std::ranges::stable_sort(opened, {}, [](const JoinedFile& file) {
    return std::pair(file.started_ns(), file.part.number);
  });
  std::vector<Part> parts;
  for (std::size_t i = 1; i < opened.size(); ++i) {
    TRY(check_pair(opened[i - 1], opened[i]));
  }
  for (std::size_t i = 0; i < opened.size(); ++i) {
    const JoinedFile& file = opened[i];
    Part& part = parts.emplace_back();
    part.path = file.path;
    part.started_ns = file.started_ns();
    part.source = std::move(sources.value()[file.given]);
    if (i > 0) {
      part.is_behind_gap = !file.follows(opened[i - 1]);
      part.known_records = part.is_behind_gap ? 0 : file.part.state_records;
    }
  }
  return std::unique_ptr<RecordSource>(
      new JoinedSource(std::move(parts), join_recordings(std::move(opened))));
}

JoinedSource::JoinedSource(std::vector<Part> parts, Recording recording)
    : parts_(std::move(parts)), recording_(std::move(recording)) {
  for (Part& part : parts_) {
    learn_events(part);
    learn_caveats(part);
  }
}

// Each of the file's events is the next of the same kind that none of its others is.
void JoinedSource::learn_events(Part& part) {
  const std::vector<EventInfo>& own = part.source->recording().events;
  for (std::size_t i = part.events.size(); i < own.size(); ++i) {
    std::uint32_t known = 0;
    while (known < recording_.events.size() &&
           (!is_same(recording_.events[known], own[i]) ||
            std::ranges::find(part.events, known) != part.events.end())) {
      ++known;
    }
    if (known == recording_.events.size()) {
      recording_.events.push_back(own[i]);
    }
    part.events.push_back(known);
  }
}

void JoinedSource::learn_caveats(Part& part) {
  const std::vector<std::string>& own = part.source->recording().caveats;
  for (; part.told_caveats < own.size(); ++part.told_caveats) {
    recording_.caveats.push_back(part.path + ": " + own[part.told_caveats]);
  }
}

void JoinedSource::renumber(Sample& sample, Part& part) {
  if (sample.event >= part.events.size()) {
    learn_events(part);
  }
  sample.event = sample.event < part.events.size() ? part.events[sample.event] : sample.event;
}

Result<std::optional<Record>> JoinedSource::next() {
  while (current_ < parts_.size()) {
    Part& part = parts_[current_];
    if (std::exchange(part.is_behind_gap, false)) {
      // Nothing more is lost that could be counted, but calls that have begun may have returned.
      return std::optional<Record>(
          Record{.stamp = {.time_ns = part.started_ns}, .payload = Lost{0, LossReason::Kernel}});
    }
    auto record = part.source->next();
    if (!record.ok()) {
      return record.take_error();
    }
    if (!record.value()) {
      learn_caveats(part);
      part.source.reset();
      ++current_;
      continue;
    }
    const Stamp& stamp = record.value()->stamp;
    if (stamp.sequence < part.known_records && record.value()->bytes.data() != nullptr) {
      continue;
    }
    if (auto* sample = std::get_if<Sample>(&record.value()->payload)) {
      renumber(*sample, part);
    }
    return record;
  }
  return std::optional<Record>();
}

}  // namespace memtrace
