#include "perf/file_out/zstd_writer.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <random>

#include "perf/record/perf_format.h"
#include "support/perf_bytes.h"

namespace memtrace::test {
namespace {

// Decompresses each payload as perf does: one call, all of the input, something out of it.
RecordBytes unpacked(const std::vector<ZstdPiece>& pieces) {
  RecordBytes all;
  ZSTD_DStream* stream = ZSTD_createDStream();
  std::vector<std::byte> room(kZstdPieceMaxBytes);
  for (const ZstdPiece& piece : pieces) {
    const RecordHeader header = header_of(piece.bytes);
    EXPECT_EQ(header.size_bytes, piece.bytes.size());
    if (header.type != kCompressed) {
      all.insert(all.end(), piece.bytes.begin(), piece.bytes.end());
      continue;
    }
    ZSTD_inBuffer in{piece.bytes.data() + 8, piece.bytes.size() - 8, 0};
    ZSTD_outBuffer out{room.data(), room.size(), 0};
    EXPECT_EQ(ZSTD_isError(ZSTD_decompressStream(stream, &out, &in)), 0U);
    EXPECT_EQ(in.pos, in.size);
    EXPECT_EQ(out.pos, piece.plain_bytes);
    EXPECT_GT(out.pos, 0U);
    all.insert(all.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(out.pos));
  }
  ZSTD_freeDStream(stream);
  return all;
}

RecordBytes noise_record(std::mt19937_64& random, std::size_t size_bytes) {
  ByteWriter body;
  while (body.size_bytes() + 8 < size_bytes) {
    body.put(random());
  }
  return record_bytes(PERF_RECORD_SAMPLE, body);
}

std::uint64_t samples_in(const std::vector<ZstdPiece>& pieces) {
  std::uint64_t count = 0;
  for (const ZstdPiece& piece : pieces) {
    count += piece.sample_count;
  }
  return count;
}

TEST(ZstdWriter, each_piece_holds_whole_records_that_one_call_decompresses) {
  ZstdWriter writer(1);
  RecordBytes plain;
  std::vector<ZstdPiece> pieces;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const RecordBytes record = kmalloc_sample(i, i % 30);
    plain.insert(plain.end(), record.begin(), record.end());
    if (writer.append(record)) {
      auto ready = writer.take();
      pieces.insert(pieces.end(), ready.begin(), ready.end());
    }
  }
  auto rest = writer.drain();
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  EXPECT_EQ(unpacked(pieces), plain);
  EXPECT_EQ(samples_in(pieces), 20000U);
  EXPECT_GE(writer.ratio(), 5U);
  EXPECT_TRUE(writer.drain().empty());
}

TEST(ZstdWriter, records_that_do_not_get_smaller_are_kept_whole) {
  std::mt19937_64 random(1);
  ZstdWriter writer(1);
  RecordBytes plain;
  for (const std::size_t size_bytes : {65528U, 40U, 65528U, 30000U, 40000U, 16U, 65520U}) {
    const RecordBytes record = noise_record(random, size_bytes);
    plain.insert(plain.end(), record.begin(), record.end());
    writer.append(record);
  }
  const auto pieces = writer.drain();
  EXPECT_EQ(unpacked(pieces), plain);
  EXPECT_EQ(samples_in(pieces), 7U);
}

TEST(ZstdPacker, noise_after_what_compresses_well_still_fits_its_record) {
  std::mt19937_64 random(2);
  ZstdPacker packer(3);
  RecordBytes plain;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const RecordBytes record = kmalloc_sample(i, 20);
    plain.insert(plain.end(), record.begin(), record.end());
  }
  for (std::uint64_t i = 0; i < 400; ++i) {
    const RecordBytes record = noise_record(random, 2000);
    plain.insert(plain.end(), record.begin(), record.end());
  }
  std::vector<ZstdPiece> pieces;
  packer.pack(plain, pieces);
  EXPECT_EQ(unpacked(pieces), plain);
  EXPECT_EQ(samples_in(pieces), 3400U);
}

TEST(ZstdWriter, ratio_of_nothing_is_zero) {
  ZstdWriter writer(1);
  EXPECT_TRUE(writer.drain().empty());
  EXPECT_EQ(writer.ratio(), 0U);
}

}  // namespace
}  // namespace memtrace::test
