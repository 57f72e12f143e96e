// Field order: include/uapi/linux/perf_event.h, PERF_RECORD_*.
#include "perf/record/record_parser.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/byte_reader.h"
#include "perf/record/perf_event_compat.h"
#include "perf/record/record_bytes.h"

namespace memtrace {
namespace {

// Newer than the oldest headers that memtrace is built with.
constexpr std::uint16_t kMiscLostByBpfFilter = 1U << 15;  // of LOST_SAMPLES: asked for, 6.14

Mmap read_mmap(ByteReader& reader, RecordHeader header) {
  Mmap map;
  map.pid = reader.read<std::uint32_t>();
  map.tid = reader.read<std::uint32_t>();
  map.start = reader.read<std::uint64_t>();
  map.length_bytes = reader.read<std::uint64_t>();
  map.file_offset = reader.read<std::uint64_t>();
  map.executable = (header.misc & PERF_RECORD_MISC_MMAP_DATA) == 0;
  map.mode = mode_of(header.misc);
  return map;
}

void read_mmap2_part(ByteReader& reader, bool has_build_id, Mmap& map) {
  if (has_build_id) {
    const auto size_bytes = reader.read<std::uint8_t>();
    reader.skip(3);
    const Bytes id = reader.take(20);
    map.build_id = id.first(std::min<std::size_t>(size_bytes, id.size()));
  } else {
    map.major = reader.read<std::uint32_t>();
    map.minor = reader.read<std::uint32_t>();
    map.inode = reader.read<std::uint64_t>();
    reader.skip(kWord);  // inode generation
  }
  map.prot = reader.read<std::uint32_t>();
  map.flags = reader.read<std::uint32_t>();
}

Mmap read_mapping(ByteReader& reader, RecordHeader header, bool has_build_id) {
  Mmap map = read_mmap(reader, header);
  if (header.type == PERF_RECORD_MMAP2) {
    read_mmap2_part(reader, has_build_id, map);
  }
  map.path = text_field(reader, reader.remaining());
  return map;
}

template <typename Task>
Task read_task(ByteReader& reader) {
  Task task;
  task.pid = reader.read<std::uint32_t>();
  task.parent_pid = reader.read<std::uint32_t>();
  task.tid = reader.read<std::uint32_t>();
  task.parent_tid = reader.read<std::uint32_t>();
  return task;
}

Comm read_comm(ByteReader& reader, RecordHeader header) {
  Comm comm;
  comm.pid = reader.read<std::uint32_t>();
  comm.tid = reader.read<std::uint32_t>();
  comm.exec = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
  comm.name = text_field(reader, reader.remaining());
  return comm;
}

RecordPayload read_lost_samples(ByteReader& reader, RecordHeader header) {
  if ((header.misc & kMiscLostByBpfFilter) != 0) {
    return OtherRecord{header.type};
  }
  return Lost{reader.read<std::uint64_t>(), LossReason::Kernel};
}

RecordPayload read_body(ByteReader& reader, RecordHeader header, bool has_build_id) {
  switch (header.type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
      return read_mapping(reader, header, has_build_id);
    case PERF_RECORD_COMM:
      return read_comm(reader, header);
    case PERF_RECORD_FORK:
      return read_task<Fork>(reader);
    case PERF_RECORD_EXIT:
      return read_task<Exit>(reader);
    case PERF_RECORD_LOST:
      reader.skip(kWord);  // the event's id
      return Lost{reader.read<std::uint64_t>(), LossReason::Kernel};
    case PERF_RECORD_LOST_SAMPLES:
      return read_lost_samples(reader, header);
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_UNTHROTTLE:
      return Throttle{header.type == PERF_RECORD_THROTTLE};
    default:
      return OtherRecord{header.type};
  }
}

}  // namespace

void RecordParser::add_event(const SampleLayout& layout, std::span<const std::uint64_t> ids) {
  const auto number = static_cast<std::uint32_t>(events_.size());
  events_.push_back({SampleParser(layout, number), StampPlaces::of(layout)});
  uniform_ = uniform_ && events_.front().places == events_.back().places;
  uniform_samples_ = uniform_samples_ &&
                     events_.front().places.sample_time == events_.back().places.sample_time &&
                     events_.front().places.sample_id == events_.back().places.sample_id;
  for (const std::uint64_t id : ids) {
    numbers_.add(id, number);
  }
}

void RecordParser::share(std::uint32_t first,
                         std::span<const std::uint64_t> ids,
                         SharedNumbers numbers) {
  for (const std::uint64_t id : ids) {
    numbers_.add(id, first);
  }
  events_[first].samples.share(std::move(numbers));
}

const RecordParser::Event* RecordParser::find(Bytes bytes, bool is_sample) const {
  if (events_.empty()) {
    return nullptr;
  }
  // All events have the id at the same place, so the first one's place will do.
  const StampPlaces& places = events_.front().places;
  const std::uint64_t id = is_sample
                               ? (places.sample_id != 0 ? word_at(bytes, places.sample_id) : 0)
                               : word_before_end(bytes, places.trailer_id);
  const auto number = event_of(id);
  if (number) {
    return &events_[*number];
  }
  // A sample of an event that nobody described cannot be read. Other records of unknown or no id
  // are made up by the recorder (/proc as it was at the start) in the first event's layout.
  const bool must_know = is_sample && places.sample_id != 0 && !numbers_.empty();
  return must_know ? nullptr : &events_.front();
}

// Where another recorder asked for build ids, the kernel (5.12 to 6.18) says so in the records of
// those that did not, too: perf/live/record_mender.h. perf makes up records that have build ids and
// no event's id.
bool RecordParser::has_build_id(Bytes bytes) const {
  const RecordHeader header = header_of(bytes);
  if (header.type != PERF_RECORD_MMAP2 || (header.misc & kMiscMmapBuildId) == 0 ||
      events_.empty()) {
    return false;
  }
  const auto number = numbers_.find(word_before_end(bytes, events_.front().places.trailer_id));
  return number ? events_[*number].samples.layout().build_ids
                : std::ranges::any_of(
                      events_, [](const Event& event) { return event.samples.layout().build_ids; });
}

std::uint64_t RecordParser::time_ns(Bytes bytes) const {
  const bool is_sample = header_of(bytes).type == PERF_RECORD_SAMPLE;
  const bool is_first = !events_.empty() && (is_sample ? uniform_samples_ : uniform_);
  const Event* event = is_first ? &events_.front() : find(bytes, is_sample);
  if (event == nullptr) {
    return 0;
  }
  if (!is_sample) {
    return known_time(word_before_end(bytes, event->places.trailer_time));
  }
  const std::size_t place = event->places.sample_time;
  return place == 0 ? 0 : known_time(word_at(bytes, place));
}

Result<Record> RecordParser::parse(Bytes bytes) const {
  const RecordHeader header = header_of(bytes);
  if (bytes.size() < sizeof(RecordHeader)) {
    return malformed("record is shorter than its header", header.type);
  }
  if (header.type == PERF_RECORD_SAMPLE) {
    const Event* event = find(bytes, true);
    return event != nullptr
               ? event->samples.parse(bytes)
               : malformed("sample of an event that was not described", PERF_RECORD_SAMPLE);
  }
  Record record{.stamp = {}, .payload = {}, .bytes = bytes};
  std::size_t trailer_bytes = 0;
  if (const Event* event = find(bytes, false); event != nullptr) {
    const StampPlaces& places = event->places;
    record.stamp.time_ns = known_time(word_before_end(bytes, places.trailer_time));
    const SampleLayout& layout = event->samples.layout();
    const bool has_cpu = (layout.sample_type & PERF_SAMPLE_CPU) != 0;
    const bool has_identifier = (layout.sample_type & PERF_SAMPLE_IDENTIFIER) != 0;
    if (has_cpu && layout.sample_id_all) {
      record.stamp.cpu =
          static_cast<std::uint32_t>(word_before_end(bytes, has_identifier ? 2 * kWord : kWord));
    }
    trailer_bytes = places.trailer_size_bytes;
  }
  const std::size_t body_bytes =
      bytes.size() - std::min(trailer_bytes, bytes.size() - sizeof(RecordHeader));
  ByteReader reader(bytes.first(body_bytes));
  reader.skip(sizeof(RecordHeader));
  record.payload = read_body(reader, header, has_build_id(bytes));
  if (reader.failed()) {
    return malformed("record is shorter than its fields", header.type);
  }
  return record;
}

}  // namespace memtrace
