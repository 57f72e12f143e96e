#include "perf/file_out/zstd_piece.h"

#include <linux/perf_event.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "perf/record/perf_format.h"

namespace memtrace {
namespace {

using Bytes = std::span<const std::byte>;

// A record's size is a 16-bit number.
constexpr std::size_t kPayloadMaxBytes = (std::size_t{1} << 16) - 1 - sizeof(RecordHeader);
// Aim a little lower: how well records compress goes up and down.
constexpr std::size_t kPayloadAimBytes = kPayloadMaxBytes / 8 * 7;

struct Stretch {
  std::size_t size_bytes = 0;
  std::uint64_t sample_count = 0;
  std::size_t record_count = 0;
};

// The whole records at the start of `records` that have at most max_bytes, but one at least.
Stretch first_records(Bytes records, std::size_t max_bytes) {
  Stretch stretch;
  while (stretch.size_bytes < records.size()) {
    const RecordHeader header = header_of(records.subspan(stretch.size_bytes));
    const std::size_t end_bytes = stretch.size_bytes + header.size_bytes;
    if (stretch.record_count > 0 && end_bytes > max_bytes) {
      break;
    }
    stretch.size_bytes = end_bytes;
    stretch.sample_count += header.type == PERF_RECORD_SAMPLE ? 1 : 0;
    ++stretch.record_count;
  }
  return stretch;
}

}  // namespace

struct ZstdPacker::Context {
  explicit Context(int level) : handle(ZSTD_createCCtx()), room(kPayloadMaxBytes) {
    ZSTD_CCtx_setParameter(handle, ZSTD_c_compressionLevel, level);
  }

  ~Context() { ZSTD_freeCCtx(handle); }

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  Context(Context&&) = delete;
  Context& operator=(Context&&) = delete;

  ZSTD_CCtx* handle = nullptr;
  std::vector<std::byte> room;
};

ZstdPacker::ZstdPacker(int level) : context_(std::make_unique<Context>(level)) {}

ZstdPacker::~ZstdPacker() = default;

void ZstdPacker::pack(Bytes records, std::vector<ZstdPiece>& pieces) {
  while (!records.empty()) {
    // Parts of equal size: a small rest compresses badly.
    const std::size_t parts = (records.size() + fitting_bytes_ - 1) / fitting_bytes_;
    const Bytes part = records.first(first_records(records, records.size() / parts).size_bytes);
    if (pack_one(part, pieces)) {
      records = records.subspan(part.size());
    } else {
      fitting_bytes_ = std::max<std::size_t>(part.size() / 2, 1);
    }
  }
}

// False: they do not fit one COMPRESSED record.
bool ZstdPacker::pack_one(Bytes records, std::vector<ZstdPiece>& pieces) {
  std::vector<std::byte>& room = context_->room;
  const std::size_t packed_bytes =
      ZSTD_compress2(context_->handle, room.data(), room.size(), records.data(), records.size());
  const Stretch stretch = first_records(records, records.size());
  ZstdPiece piece{.plain_bytes = records.size(), .sample_count = stretch.sample_count};
  if (ZSTD_isError(packed_bytes) != 0) {  // the room did not do
    if (stretch.record_count > 1) {
      return false;
    }
    piece.bytes.assign(records.begin(), records.end());
    pieces.push_back(std::move(piece));
    return true;
  }
  const RecordHeader header{
      .type = kCompressed,
      .size_bytes = static_cast<std::uint16_t>(sizeof(RecordHeader) + packed_bytes)};
  piece.bytes.resize(header.size_bytes);
  std::memcpy(piece.bytes.data(), &header, sizeof(header));
  std::memcpy(piece.bytes.data() + sizeof(header), room.data(), packed_bytes);
  pieces.push_back(std::move(piece));
  const std::size_t expected_bytes = records.size() * kPayloadAimBytes / packed_bytes;
  fitting_bytes_ = std::clamp(expected_bytes, kPayloadAimBytes, kZstdPieceMaxBytes);
  return true;
}

}  // namespace memtrace
