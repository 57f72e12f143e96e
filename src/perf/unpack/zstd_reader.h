// Unpacks in the caller's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "perf/unpack/packed_records.h"

namespace memtrace {

class ZstdReader final : public PackedRecords {
 public:
  ZstdReader();
  ~ZstdReader() override;
  ZstdReader(const ZstdReader&) = delete;
  ZstdReader& operator=(const ZstdReader&) = delete;
  ZstdReader(ZstdReader&&) = delete;
  ZstdReader& operator=(ZstdReader&&) = delete;

  void feed(std::span<const std::byte> payload) override;
  Result<std::optional<std::span<const std::byte>>> next() override;

  bool has_more() const override { return has_more_; }

  const RecordMemory& memory() const override { return block_.words; }

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
