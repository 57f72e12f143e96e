#include "perf/file_in/record_unpacker.h"

#include <system_error>

#include "perf/record/perf_format.h"
#include "perf/unpack/unpack_ahead.h"
#include "perf/unpack/zstd_reader.h"

namespace memtrace {

// The system may have no thread left.
std::unique_ptr<PackedRecords> RecordUnpacker::make_reader() const {
  try {
    if (!ahead_.empty()) {
      return std::make_unique<UnpackAhead>(ahead_);
    }
  } catch (const std::system_error&) {
    // the caller unpacks, then
  }
  return std::make_unique<ZstdReader>();
}

void RecordUnpacker::feed(std::span<const std::byte> payload) {
  if (reader_ == nullptr) {
    reader_ = make_reader();
  }
  limit_.add_packed(payload.size());
  reader_->feed(payload);
}

Result<std::optional<std::span<const std::byte>>> RecordUnpacker::next() {
  while (true) {
    auto record = reader_->next();
    if (!record.ok() || !record.value()) {
      return record;
    }
    if (header_of(*record.value()).type < kFirstUserType) {
      is_full_ = limit_.add_record(record.value()->size());
      return record;
    }
  }
}

}  // namespace memtrace
