// The records of COMPRESSED records, no more of them at once than may be held.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "perf/file_in/unpack_limit.h"
#include "perf/unpack/packed_records.h"
#include "perf/unpack/record_keeper.h"

namespace memtrace {

class RecordUnpacker {
 public:
  // By a thread: `records` are all that come, and they stay where they are. Nothing happens once a
  // payload was fed.
  void unpack_ahead(std::span<const std::byte> records) { ahead_ = records; }

  // There will be no more payloads.
  void end() { reader_.reset(); }

  // The payload of the next COMPRESSED record; next() must have given out all of the one before.
  void feed(std::span<const std::byte> payload);

  // The next record of the kernel's; nothing when more must be fed. Error: the data is damaged.
  Result<std::optional<std::span<const std::byte>>> next();

  // Until next() has given out nothing, or an error.
  bool has_more() const { return reader_ != nullptr && reader_->has_more(); }

  // With the record of the last next() enough are held: they are to be given out first.
  bool is_full() const { return is_full_; }

  // What is held was given out.
  void begin_round() { limit_.begin_round(); }

  // What the record of the last next() lies in.
  const RecordMemory& memory() const { return reader_->memory(); }

 private:
  std::unique_ptr<PackedRecords> make_reader() const;

  std::span<const std::byte> ahead_;       // empty: no thread
  std::unique_ptr<PackedRecords> reader_;  // made for the first payload: most files have none
  UnpackLimit limit_;
  bool is_full_ = false;
};

}  // namespace memtrace
