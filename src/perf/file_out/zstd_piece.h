// A stretch of records as COMPRESSED records: what perf's reader asks of them
// (perf_session__process_compressed_event() in tools/perf/util/session.c, 5.10 to 6.1).
//
// The payloads of all COMPRESSED records of a file are one zstd stream for the reader. Each of ours
// is a frame of its own, which such a stream may be made of: it holds whole records, so a file that
// is cut loses no more than its last piece. perf wants at least one byte out of each payload, asks
// zstd for it in one call, and has room for as many bytes as the file's mmap_len says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace memtrace {

// Records of a file, whole: a COMPRESSED one, or one that did not get smaller, as it was.
struct ZstdPiece {
  std::vector<std::byte> bytes;
  std::uint64_t plain_bytes = 0;
  std::uint64_t sample_count = 0;
};

// No payload yields more than this: the file's mmap_len.
inline constexpr std::size_t kZstdPieceMaxBytes = std::size_t{1} << 20;

class ZstdPacker {
 public:
  explicit ZstdPacker(int level);
  ZstdPacker(const ZstdPacker&) = delete;
  ZstdPacker& operator=(const ZstdPacker&) = delete;
  ZstdPacker(ZstdPacker&&) = delete;
  ZstdPacker& operator=(ZstdPacker&&) = delete;
  ~ZstdPacker();

  // Packs whole records and adds them to `pieces`.
  void pack(std::span<const std::byte> records, std::vector<ZstdPiece>& pieces);

 private:
  struct Context;

  bool pack_one(std::span<const std::byte> records, std::vector<ZstdPiece>& pieces);

  std::unique_ptr<Context> context_;
  // How many bytes of records fill a COMPRESSED record, estimated from the last ones.
  std::size_t fitting_bytes_ = kZstdPieceMaxBytes;
};

}  // namespace memtrace
