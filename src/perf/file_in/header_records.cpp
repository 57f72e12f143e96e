#include "perf/file_in/header_records.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/byte_reader.h"
#include "perf/record/perf_format.h"
#include "perf/record/record_bytes.h"

namespace memtrace {
namespace {

// {attr, ids}: the attr's own size field says where the ids begin.
void read_attr(Bytes body, RecordingBuilder& builder) {
  ByteReader reader(body);
  reader.skip(sizeof(std::uint32_t));
  const auto attr_bytes = reader.read<std::uint32_t>();
  if (reader.failed() || attr_bytes < 2 * sizeof(std::uint32_t) || attr_bytes > body.size()) {
    builder.add_caveat("An event description is damaged; its samples cannot be read.");
    return;
  }
  const Bytes id_bytes = body.subspan(attr_bytes);
  std::vector<std::uint64_t> ids(id_bytes.size() / sizeof(std::uint64_t));
  if (!ids.empty()) {
    std::memcpy(ids.data(), id_bytes.data(), ids.size() * sizeof(std::uint64_t));
  }
  // An event that kAddedEvent has announced comes again for perf.
  if (ids.empty() || !builder.parser().event_of(ids.front())) {
    builder.add_event(body.first(attr_bytes), ids);
  }
}

// As added_event_record() writes it. A file that was finished has described the event in its head.
void read_added_event(Bytes body, RecordingBuilder& builder) {
  ByteReader reader(body);
  reader.skip(2 * sizeof(std::uint64_t));
  const auto attr_bytes = reader.read<std::uint32_t>();
  const auto id_bytes = reader.read<std::uint32_t>();
  const auto name_bytes = reader.read<std::uint32_t>();
  const auto format_bytes = reader.read<std::uint32_t>();
  const Bytes attr = reader.take(attr_bytes);
  const Bytes id_part = reader.take(id_bytes);
  const std::string_view name = text_field(reader, name_bytes);
  const std::string_view format = text_field(reader, format_bytes);
  std::vector<std::uint64_t> ids(id_part.size() / sizeof(std::uint64_t));
  if (reader.failed() || ids.empty()) {
    return;
  }
  std::memcpy(ids.data(), id_part.data(), ids.size() * sizeof(std::uint64_t));
  if (!builder.parser().event_of(ids.front())) {
    builder.add_event(attr, ids);
    builder.describe_event(ids.front(), name, format);
  }
}

// {kind, event id, name}, or a piece of memtrace's own sections in the place of the name.
void read_update(Bytes body, RecordingBuilder& builder) {
  ByteReader reader(body);
  const auto kind = reader.read<std::uint64_t>();
  const auto id = reader.read<std::uint64_t>();
  if (reader.failed()) {
    return;
  }
  if (kind == kAddedEvent) {
    read_added_event(body, builder);
  } else if (kind == kUpdateName) {
    builder.name_event(id, text_field(reader, reader.remaining()));
  } else if (kind >= kSymbolsFeature && kind <= kIdentitiesFeature) {
    builder.add_feature(static_cast<std::uint32_t>(kind), body.subspan(reader.position()));
  }
}

// {feature, body}.
void read_feature(Bytes body, RecordingBuilder& builder) {
  ByteReader reader(body);
  const auto feature = reader.read<std::uint64_t>();
  if (!reader.failed() && feature < 64 * kFeatureMapWords) {
    builder.add_feature(static_cast<std::uint32_t>(feature), body.subspan(reader.position()));
  }
}

// {count, {id, index, CPU, tid}...}. perf writes it always since 6.0.
void read_id_index(Bytes body, RecordingBuilder& builder) {
  ByteReader reader(body);
  const auto count = reader.read<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) {
    const auto id = reader.read<std::uint64_t>();
    reader.skip(2 * sizeof(std::uint64_t));
    const auto tid = static_cast<std::int64_t>(reader.read<std::uint64_t>());
    if (!reader.failed() && tid == -1) {
      builder.group_counts().note_all_tasks(id);
    }
  }
}

}  // namespace

void read_header_record(Bytes record, RecordingBuilder& builder) {
  const Bytes body = record.subspan(sizeof(RecordHeader));
  switch (header_of(record).type) {
    case kHeaderAttr:
      read_attr(body, builder);
      break;
    case kEventUpdate:
      read_update(body, builder);
      break;
    case kHeaderFeature:
      read_feature(body, builder);
      break;
    case kIdIndex:
      read_id_index(body, builder);
      break;
    case kBuildIdRecord:
      builder.add_build_id(record);
      break;
    default:
      break;
  }
}

}  // namespace memtrace
