#include "perf/file_in/record_unpacker.h"

#include "perf/record/perf_format.h"
#include "perf/unpack/unpack_ahead.h"
#include "perf/unpack/zstd_reader.h"

namespace memtrace {

void RecordUnpacker::feed(std::span<const std::byte> payload) {
  if (reader_ == nullptr) {
    reader_ = ahead_.empty() ? std::unique_ptr<PackedRecords>(std::make_unique<ZstdReader>())
                             : std::make_unique<UnpackAhead>(ahead_);
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
