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
  if (before.recording->host_name != after.recording->host_name) {
    return two_reports(before, after, "were recorded on two machines");
  }
  const bool overlap = before.stopped_ns() != 0 && after.started_ns() < before.stopped_ns();
  if (overlap && !after.is_of_recording_of(before)) {
    return two_reports(before, after, "were recorded at the same time");
  }
  return kDone;
}

}  // namespace

Result<std::unique_ptr<RecordSource>> JoinedSource::create(std::vector<File> files) {
  std::vector<Part> parts;
  for (File& file : files) {
    Part& part = parts.emplace_back();
    part.source = std::move(file.source);
    part.file = JoinedFile::of(std::move(file.path), part.source->recording());
  }
  std::ranges::stable_sort(parts, {}, [](const Part& part) {
    return std::pair(part.file.started_ns(), part.file.part.number);
  });
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const JoinedFile& before = parts[i - 1].file;
    Part& after = parts[i];
    TRY(check_pair(before, after.file));
    after.is_behind_gap = !after.file.follows(before);
    after.known_records = after.is_behind_gap ? 0 : after.file.part.state_records;
  }
  return std::unique_ptr<RecordSource>(new JoinedSource(std::move(parts)));
}

JoinedSource::JoinedSource(std::vector<Part> parts) : parts_(std::move(parts)) {
  std::vector<JoinedFile> files;
  for (const Part& part : parts_) {
    files.push_back(part.file);
  }
  recording_ = join_recordings(files);
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
    recording_.caveats.push_back(part.file.path + ": " + own[part.told_caveats]);
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
      return std::optional<Record>(Record{.stamp = {.time_ns = part.file.started_ns()},
                                          .payload = Lost{0, LossReason::Kernel}});
    }
    auto record = part.source->next();
    if (!record.ok()) {
      return record.take_error();
    }
    if (!record.value()) {
      learn_caveats(part);
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
