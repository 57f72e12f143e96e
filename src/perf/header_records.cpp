#include "perf/header_records.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/byte_reader.h"
#include "perf/file_writer.h"
#include "perf/perf_format.h"
#include "perf/record_bytes.h"

namespace memtrace {
namespace {

// {attr, ids}: the attr's own size field tells where the ids begin.
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
  builder.add_event(body.first(attr_bytes), ids);
}

// {kind, event id, name}, or a piece of memtrace's own sections in the place of the name.
void read_update(Bytes body, RecordingBuilder& builder) {
  ByteReader reader(body);
  const auto kind = reader.read<std::uint64_t>();
  const auto id = reader.read<std::uint64_t>();
  if (reader.failed()) {
    return;
  }
  if (kind == kUpdateName) {
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
    case kBuildIdRecord:
      builder.add_build_id(record);
      break;
    default:
      break;
  }
}

}  // namespace memtrace
