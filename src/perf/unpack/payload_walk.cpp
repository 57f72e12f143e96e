#include "perf/unpack/payload_walk.h"

#include <algorithm>

#include "base/byte_reader.h"
#include "perf/record/perf_format.h"

namespace memtrace {

std::optional<std::span<const std::byte>> packed_payload(std::span<const std::byte> record) {
  ByteReader reader(record);
  reader.skip(sizeof(RecordHeader));
  switch (header_of(record).type) {
    case kCompressed:
      return record.subspan(sizeof(RecordHeader));
    case kCompressed2: {
      const auto size_bytes = reader.read<std::uint64_t>();
      return reader.take(std::min<std::uint64_t>(size_bytes, reader.remaining()));
    }
    default:
      return std::nullopt;
  }
}

std::uint64_t bytes_behind(std::span<const std::byte> record) {
  ByteReader reader(record);
  reader.skip(sizeof(RecordHeader));
  switch (header_of(record).type) {
    case kTracingDataRecord:
      return padded_to_8(reader.read<std::uint32_t>());
    case kAuxTrace:
      return reader.read<std::uint64_t>();
    default:
      return 0;
  }
}

std::optional<std::span<const std::byte>> PayloadWalk::next() {
  while (rest_.size() >= sizeof(RecordHeader)) {
    const std::size_t size_bytes = header_of(rest_).size_bytes;
    if (size_bytes < sizeof(RecordHeader) || size_bytes > rest_.size()) {
      break;
    }
    const auto record = rest_.first(size_bytes);
    rest_ = rest_.subspan(size_bytes);
    rest_ = rest_.subspan(std::min<std::uint64_t>(bytes_behind(record), rest_.size()));
    if (const auto payload = packed_payload(record)) {
      return payload;
    }
  }
  rest_ = {};
  return std::nullopt;
}

}  // namespace memtrace
