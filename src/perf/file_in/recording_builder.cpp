#include "perf/file_in/recording_builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/byte_reader.h"
#include "base/text.h"
#include "perf/record/perf_format.h"
#include "perf/record/record_bytes.h"

namespace memtrace {
namespace {

std::string_view software_name(std::uint64_t config) {
  static constexpr auto kNames = std::to_array<std::string_view>({"cpu-clock",
                                                                  "task-clock",
                                                                  "page-faults",
                                                                  "context-switches",
                                                                  "cpu-migrations",
                                                                  "minor-faults",
                                                                  "major-faults",
                                                                  "alignment-faults",
                                                                  "emulation-faults",
                                                                  "dummy",
                                                                  "bpf-output",
                                                                  "cgroup-switches"});
  return config < kNames.size() ? kNames[config] : std::string_view();
}

// {u32 size with padding, text}: struct perf_header_string.
std::string header_string(ByteReader& reader) {
  const auto size_bytes = reader.read<std::uint32_t>();
  return std::string(text_field(reader, size_bytes));
}

std::vector<std::string> header_strings(ByteReader& reader) {
  std::vector<std::string> strings;
  const auto count = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    strings.push_back(header_string(reader));
  }
  return strings;
}

std::string only_string(Bytes body) {
  ByteReader reader(body);
  return header_string(reader);
}

// The limit of a section of our own. A parsed document takes up to thirty times the memory.
constexpr std::size_t kOwnTextMaxBytes = std::size_t{64} << 20U;

// Of the copies that all events have. A machine has two thousand tracepoints of some 2 KB; a file
// may say that all its events are one of which it has a long text.
constexpr std::size_t kFormatsMaxBytes = std::size_t{64} << 20U;

// Pieces in a pipe are padded with zeros. Of what is too large nothing is kept.
void append_text(std::string& text, Bytes piece, RecordingBuilder& builder) {
  if (piece.size() > kOwnTextMaxBytes - std::min(text.size(), kOwnTextMaxBytes)) {
    text.clear();
    builder.add_caveat("A section with names is larger than 64 MiB and was not read.");
    return;
  }
  text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  text.erase(text.find_last_not_of('\0') + 1);
}

EventKind kind_of(std::uint32_t type) {
  switch (type) {
    case PERF_TYPE_TRACEPOINT:
      return EventKind::Tracepoint;
    case PERF_TYPE_SOFTWARE:
      return EventKind::Software;
    default:
      return EventKind::Other;
  }
}

// As file_attr() wrote it (perf/event/event_attr.h). Other recorders leave these fields at 0: the
// kernel has no use for them in events of these two kinds.
void learn_windows(const perf_event_attr& attr, EventInfo& event) {
  constexpr std::uint64_t kMostSlots = std::uint64_t{1} << 20U;  // more than any that are written
  const bool is_of_windows = event.kind != EventKind::Other && attr.config1 > 1 &&
                             attr.config1 <= kMostSlots && attr.config2 > 0 &&
                             event.period % attr.config1 == 0;
  if (is_of_windows) {
    event.window_share = attr.config1;
    event.cycle_ns = attr.config2;
  }
}

// Not known: of another version, or cut.
ClockPair clock_data(ByteReader& reader) {
  const auto version = reader.read<std::uint32_t>();
  reader.skip(sizeof(std::uint32_t));  // which clock the records have
  ClockPair clock;
  clock.wall_ns = reader.read<std::uint64_t>();
  clock.record_ns = reader.read<std::uint64_t>();
  return version == 1 && !reader.failed() ? clock : ClockPair();
}

}  // namespace

void RecordingBuilder::add_event(Bytes attr_bytes, std::span<const std::uint64_t> ids) {
  // Fields that an older attr lacks are zero; what a newer one has more is of no use here.
  perf_event_attr attr{};
  std::memcpy(&attr, attr_bytes.data(), std::min(attr_bytes.size(), sizeof(attr)));
  const SampleLayout layout = SampleLayout::of(attr);
  parser_.add_event(layout, ids);
  types_.push_back(attr.type);
  EventInfo event;
  event.kind = kind_of(attr.type);
  event.config = attr.config;
  event.period = layout.period;
  learn_windows(attr, event);
  event.is_tracking = event.kind == EventKind::Software && attr.config == PERF_COUNT_SW_DUMMY;
  event.is_clock = event.kind == EventKind::Software && (attr.config == PERF_COUNT_SW_CPU_CLOCK ||
                                                         attr.config == PERF_COUNT_SW_TASK_CLOCK);
  group_counts_.add_event(attr);
  event.is_counted = is_counted_by_leader(attr);
  if (event.is_counted) {
    const bool has_ids = (attr.read_format & PERF_FORMAT_ID) != 0;
    add_caveat(has_ids ? "The events were recorded as a group (:S): for events other than its "
                         "leader, only the number of hits between the leader's samples is known; "
                         "they are shown with the leader's stacks."
                       : "The events were recorded as a group (:S) without ids: nothing is known "
                         "of events other than its leader.");
  }
  // Only the event that carries names says so; a file whose events carry none needs no guess.
  recording_.tells_exec = recording_.tells_exec && (attr.comm == 0 || attr.comm_exec != 0);
  recording_.events.push_back(std::move(event));
}

void RecordingBuilder::name_event(std::uint64_t id, std::string_view name) {
  if (const auto number = parser_.event_of(id)) {
    EventInfo& event = recording_.events[*number];
    event.name = name;
    // The substitute for the dummy event on kernels before 3.12 (perf/event/event_attr.h,
    // tracking_request()).
    event.is_tracking = event.is_tracking || (event.kind == EventKind::Software && name == "dummy");
  }
}

void RecordingBuilder::describe_event(std::uint64_t id,
                                      std::string_view name,
                                      std::string_view format) {
  if (const auto number = parser_.event_of(id)) {
    recording_.events[*number].name = name;
    recording_.events[*number].format = format;
  }
}

void RecordingBuilder::add_caveat(std::string sentence) {
  auto& caveats = recording_.caveats;
  if (std::find(caveats.begin(), caveats.end(), sentence) == caveats.end()) {
    caveats.push_back(std::move(sentence));
  }
}

void RecordingBuilder::release_texts() {
  recording_.build_ids = {};
  for (std::string* text : {&recording_.symbols_json,
                            &recording_.about_json,
                            &recording_.identities,
                            &recording_.part_json}) {
    std::string().swap(*text);  // an assignment keeps the memory
  }
}

void RecordingBuilder::note_missing_formats() {
  const auto& events = recording_.events;
  if (std::any_of(events.begin(), events.end(), [](const EventInfo& event) {
        return event.kind == EventKind::Tracepoint && event.format.empty();
      })) {
    add_caveat("The file does not say which fields some of its tracepoints have.");
  }
}

void RecordingBuilder::add_feature(std::uint32_t feature, Bytes body) {
  if (feature == kTracingData) {
    read_tracing_data(body);
  } else if (feature == kBuildId) {
    read_build_ids(body);
  } else if (feature == kEventDescription) {
    read_event_descriptions(body);
  } else if (!read_machine_feature(feature, body)) {
    read_time_or_own_feature(feature, body);
  }
}

bool RecordingBuilder::read_machine_feature(std::uint32_t feature, Bytes body) {
  ByteReader reader(body);
  switch (feature) {
    case kHostName:
      recording_.host_name = only_string(body);
      return true;
    case kOsRelease:
      recording_.kernel_release = only_string(body);
      return true;
    case kVersion:
      recording_.tool_version = only_string(body);
      return true;
    case kArch:
      recording_.architecture = only_string(body);
      return true;
    case kDirFormat:
      add_caveat(
          "perf record --threads wrote the samples to other files of this folder, which only perf "
          "reads: record without --threads.");
      return true;
    case kCpuDescription:
      recording_.cpu_description = only_string(body);
      return true;
    case kCpuCount:
      recording_.cpus_available = reader.read<std::uint32_t>();
      recording_.cpus_online = reader.read<std::uint32_t>();
      return true;
    case kTotalMemory:
      recording_.total_memory_bytes = reader.read<std::uint64_t>() * 1024;
      return true;
    default:
      return false;
  }
}

bool RecordingBuilder::read_time_or_own_feature(std::uint32_t feature, Bytes body) {
  ByteReader reader(body);
  switch (feature) {
    case kCommandLine:
      recording_.command_line = header_strings(reader);
      return true;
    case kSampleTime:
      recording_.first_time_ns = reader.read<std::uint64_t>();
      recording_.last_time_ns = reader.read<std::uint64_t>();
      return true;
    case kClockData:
      recording_.clock = clock_data(reader);
      return true;
    case kSymbolsFeature:
      append_text(recording_.symbols_json, body, *this);
      return true;
    case kAboutFeature:
      append_text(recording_.about_json, body, *this);
      return true;
    case kIdentitiesFeature:
      append_text(recording_.identities, body, *this);
      return true;
    case kPartFeature:
      append_text(recording_.part_json, body, *this);
      return true;
    default:
      return false;
  }
}

void RecordingBuilder::read_tracing_data(Bytes body) {
  auto data = parse_tracing_data(body);
  if (!data.ok()) {
    add_caveat(data.error().message + "; the fields of its tracepoints are unknown.");
    return;
  }
  if (!data.value().is_whole) {
    add_caveat("The tracing data section is cut; some tracepoints' fields are unknown.");
  }
  recording_.page_size_bytes = data.value().page_size_bytes;
  formats_ = std::move(data.value().formats);
  format_numbers_.clear();
  for (std::size_t i = 0; i < formats_.size(); ++i) {
    format_numbers_.try_emplace(formats_[i].id, i);
  }
}

void RecordingBuilder::read_event_descriptions(Bytes body) {
  ByteReader reader(body);
  const auto count = reader.read<std::uint32_t>();
  const auto attr_bytes = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    reader.skip(attr_bytes);
    const auto id_count = reader.read<std::uint32_t>();
    const std::string name = header_string(reader);
    if (id_count == 0 && i < recording_.events.size()) {
      recording_.events[i].name = name;
    }
    for (std::uint32_t j = 0; j < id_count && !reader.failed(); ++j) {
      name_event(reader.read<std::uint64_t>(), name);
    }
  }
}

void RecordingBuilder::read_build_ids(Bytes body) {
  while (body.size() >= sizeof(RecordHeader)) {
    const std::size_t size_bytes = header_of(body).size_bytes;
    if (size_bytes < sizeof(RecordHeader) || size_bytes > body.size()) {
      add_caveat("The build id section is damaged; some build ids are unknown.");
      return;
    }
    add_build_id(body.first(size_bytes));
    body = body.subspan(size_bytes);
  }
}

// {header, pid, id[20], size, 3 bytes, file name}: struct perf_record_header_build_id.
void RecordingBuilder::add_build_id(Bytes record) {
  constexpr std::size_t kIdBytes = 20;
  const RecordHeader header = header_of(record);
  ByteReader reader(record);
  reader.skip(sizeof(header) + sizeof(std::uint32_t));
  const Bytes id = reader.take(kIdBytes);
  const auto size_bytes = reader.read<std::uint8_t>();
  reader.skip(3);
  BuildIdEntry entry;
  entry.path = text_field(reader, reader.remaining());
  if (reader.failed()) {
    return;
  }
  const bool has_size = (header.misc & kMiscBuildIdSize) != 0 && size_bytes <= kIdBytes;
  entry.build_id = to_hex(id.first(has_size ? size_bytes : kIdBytes));
  entry.kernel = (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
  recording_.build_ids.push_back(std::move(entry));
}

// Null also when the copies of earlier events have used up kFormatsMaxBytes.
const TracepointFormat* RecordingBuilder::format_of(const EventInfo& event) const {
  const auto number = format_numbers_.find(event.config);
  if (event.kind != EventKind::Tracepoint || number == format_numbers_.end()) {
    return nullptr;
  }
  const TracepointFormat& format = formats_[number->second];
  return format_bytes_ + format.text.size() <= kFormatsMaxBytes ? &format : nullptr;
}

void RecordingBuilder::complete_event(EventInfo& event) {
  if (const TracepointFormat* format = format_of(event)) {
    event.name = format->system + ":" + format->name;
    event.format = format->text;
    format_bytes_ += event.format.size();
  } else if (event.name.empty() && event.kind == EventKind::Software) {
    event.name = software_name(event.config);
  }
}

void RecordingBuilder::complete_events() {
  format_bytes_ = 0;
  for (std::size_t i = 0; i < recording_.events.size(); ++i) {
    EventInfo& event = recording_.events[i];
    complete_event(event);
    if (event.name.empty()) {
      event.name = fmt::format("type {} config 0x{:x}", types_[i], event.config);
    }
  }
}

}  // namespace memtrace
