#include "perf/unpack/zstd_reader.h"

#include <zstd.h>

#include <algorithm>

#include "perf/record/perf_format.h"

namespace memtrace {
namespace {

constexpr std::size_t kUnpackedBytes = std::size_t{1} << 20;
// No record is greater: its size is a 16-bit number.
constexpr std::size_t kRecordMaxBytes = std::size_t{1} << 16;

}  // namespace

struct ZstdReader::Stream {
  Stream() : context(ZSTD_createDStream()) {}

  ~Stream() { ZSTD_freeDStream(context); }

  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream(Stream&&) = delete;
  Stream& operator=(Stream&&) = delete;

  ZSTD_DStream* context = nullptr;
};

ZstdReader::ZstdReader() : stream_(std::make_unique<Stream>()) {}

ZstdReader::~ZstdReader() = default;

void ZstdReader::feed(std::span<const std::byte> payload) {
  input_ = payload;
  has_more_ = true;
}

Result<std::optional<std::span<const std::byte>>> ZstdReader::next() {
  using Found = std::optional<std::span<const std::byte>>;
  while (true) {
    const auto ready = block_.bytes().subspan(begin_, end_ - begin_);
    const RecordHeader header = header_of(ready);
    if (ready.size() >= sizeof(header) && header.size_bytes < sizeof(header)) {
      has_more_ = false;
      return Error{"a decompressed record has an impossible size", 0, ""};
    }
    if (ready.size() >= sizeof(header) && ready.size() >= header.size_bytes) {
      begin_ += header.size_bytes;
      return Found(ready.first(header.size_bytes));
    }
    auto more = decompress_more();
    has_more_ = more.ok() && more.value();
    if (!more.ok()) {
      return more.take_error();
    }
    if (!more.value()) {
      return Found();
    }
  }
}

Result<bool> ZstdReader::decompress_more() {
  if (block_.size_bytes - end_ < kRecordMaxBytes) {
    const RecordBlock next = RecordBlock::of(kUnpackedBytes);
    const auto rest = block_.bytes().subspan(begin_, end_ - begin_);
    std::copy(rest.begin(), rest.end(), next.bytes().begin());
    block_ = next;
    begin_ = 0;
    end_ = rest.size();
  }
  ZSTD_inBuffer in{input_.data(), input_.size(), 0};
  ZSTD_outBuffer out{block_.bytes().data(), block_.size_bytes, end_};
  const std::size_t code = ZSTD_decompressStream(stream_->context, &out, &in);
  if (ZSTD_isError(code) != 0) {
    return Error{std::string("zstd: ") + ZSTD_getErrorName(code), 0, ""};
  }
  const bool moved = in.pos > 0 || out.pos > end_;
  input_ = input_.subspan(in.pos);
  end_ = out.pos;
  return moved;
}

}  // namespace memtrace
