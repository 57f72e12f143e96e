// Records out of perf record -z: the payloads of all COMPRESSED records of a file, in the order of
// the file, are one zstd stream (tools/perf/util/zstd.c), and a record may begin in one payload and
// end in the next.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/result.h"
#include "perf/unpack/record_keeper.h"

namespace memtrace {

class PackedRecords {
 public:
  PackedRecords() = default;
  PackedRecords(const PackedRecords&) = delete;
  PackedRecords& operator=(const PackedRecords&) = delete;
  PackedRecords(PackedRecords&&) = delete;
  PackedRecords& operator=(PackedRecords&&) = delete;
  virtual ~PackedRecords() = default;

  // The payload of the next COMPRESSED record, which must stay where it is; next() must have given
  // out all of the one before.
  virtual void feed(std::span<const std::byte> payload) = 0;

  // The next whole record; nothing when more must be fed. Error: the stream is damaged.
  virtual Result<std::optional<std::span<const std::byte>>> next() = 0;

  // Until next() has given out nothing, or an error.
  virtual bool has_more() const = 0;

  // What the record of the last next() lies in.
  virtual const RecordMemory& memory() const = 0;
};

}  // namespace memtrace
