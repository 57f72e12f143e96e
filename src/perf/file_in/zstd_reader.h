// Records out of perf record -z: the payloads of all COMPRESSED records of a file, in the order of
// the file, are one zstd stream (tools/perf/util/zstd.c), and a record may begin in one payload and
// end in the next.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "perf/file_in/record_keeper.h"

namespace memtrace {

class ZstdReader {
 public:
  ZstdReader();
  ~ZstdReader();
  ZstdReader(const ZstdReader&) = delete;
  ZstdReader& operator=(const ZstdReader&) = delete;
  ZstdReader(ZstdReader&&) = delete;
  ZstdReader& operator=(ZstdReader&&) = delete;

  // The payload of one COMPRESSED record, which must stay where it is; next() must have given out
  // all of the one before.
  void feed(std::span<const std::byte> payload);

  // The next whole record; nothing when more must be fed. Error: the stream is damaged.
  Result<std::optional<std::span<const std::byte>>> next();

  // Until next() has given out nothing, or an error.
  bool has_more() const { return has_more_; }

  // What the record of the last next() lies in.
  const RecordKeeper::Memory& memory() const { return block_.words; }

 private:
  struct Stream;

  // False: there is no more input.
  Result<bool> decompress_more();

  std::unique_ptr<Stream> stream_;
  std::span<const std::byte> input_;
  bool has_more_ = false;
  RecordBlock block_;
  std::size_t begin_ = 0, end_ = 0;  // of what is decompressed and not given out, in block_
};

}  // namespace memtrace
