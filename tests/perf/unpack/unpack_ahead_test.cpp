// A thread unpacks what the caller would unpack.
#include "perf/unpack/unpack_ahead.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "perf/record/perf_format.h"
#include "perf/unpack/zstd_reader.h"

namespace memtrace {
namespace {

constexpr std::uint32_t kSampleType = 9;  // PERF_RECORD_SAMPLE
using Bytes = std::vector<std::byte>;

void append(Bytes& to, const void* data, std::size_t size_bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  to.insert(to.end(), begin, begin + size_bytes);
}

Bytes record(std::uint32_t type, const Bytes& payload) {
  Bytes made;
  const RecordHeader header{
      .type = type,
      .misc = 0,
      .size_bytes = static_cast<std::uint16_t>(sizeof(RecordHeader) + payload.size())};
  append(made, &header, sizeof(header));
  append(made, payload.data(), payload.size());
  return made;
}

// `count` records with their numbers, packed as one stream into pieces of a COMPRESSED record each.
class PackedFile {
 public:
  explicit PackedFile(std::size_t count, std::size_t piece_bytes) {
    Bytes packed;
    Bytes plain;
    for (std::size_t i = 0; i < count; ++i) {
      Bytes number;
      append(number, &i, sizeof(i));
      append(plain, record(kSampleType, number).data(), sizeof(RecordHeader) + sizeof(i));
      if (i + 1 == count || (i + 1) % kFrameRecords == 0) {
        add_frame(packed, std::exchange(plain, {}));
      }
    }
    for (std::size_t at = 0; at < packed.size(); at += piece_bytes) {
      const std::size_t size = std::min(piece_bytes, packed.size() - at);
      const Bytes made = record(kCompressed, Bytes(&packed[at], &packed[at] + size));
      append(bytes_, made.data(), made.size());
      const Bytes round = record(kFinishedRound, {});
      append(bytes_, round.data(), round.size());
    }
  }

  Bytes& bytes() { return bytes_; }

  // Where the last frame begins.
  std::byte* last_magic() {
    constexpr auto kMagic = std::to_array<std::uint8_t>({0x28, 0xb5, 0x2f, 0xfd});  // RFC 8878
    const auto found =
        std::find_end(bytes_.begin(),
                      bytes_.end(),
                      kMagic.begin(),
                      kMagic.end(),
                      [](std::byte left, std::uint8_t right) { return left == std::byte{right}; });
    return found == bytes_.end() ? nullptr : &*found;
  }

 private:
  static constexpr std::size_t kFrameRecords = 50'000;

  static void add_frame(Bytes& packed, const Bytes& plain) {
    Bytes frame(ZSTD_compressBound(plain.size()));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), plain.data(), plain.size(), 1));
    append(packed, frame.data(), frame.size());
  }

  Bytes bytes_;
};

// The numbers in all records, and how it ended.
std::vector<std::size_t> numbers_of(PackedRecords& records, std::span<const std::byte> file) {
  std::vector<std::size_t> numbers;
  PayloadWalk walk(file);
  while (const auto payload = walk.next()) {
    records.feed(*payload);
    while (records.has_more()) {
      const auto found = records.next();
      if (!found.ok()) {
        numbers.push_back(~std::size_t{0});
        return numbers;
      }
      if (found.value()) {
        EXPECT_NE(records.memory(), nullptr);
        std::memcpy(&numbers.emplace_back(),
                    found.value()->subspan(sizeof(RecordHeader)).data(),
                    sizeof(std::size_t));
      }
    }
  }
  return numbers;
}

TEST(UnpackAheadTest, records_are_those_that_the_caller_would_unpack) {
  for (const std::size_t piece_bytes : {7U, 1000U, 60000U}) {
    PackedFile file(200'000, piece_bytes);
    ZstdReader here;
    UnpackAhead ahead(file.bytes());
    const auto expected = numbers_of(here, file.bytes());
    EXPECT_EQ(expected.size(), 200'000U);
    EXPECT_EQ(numbers_of(ahead, file.bytes()), expected);
  }
}

TEST(UnpackAheadTest, damage_is_met_where_the_caller_would_meet_it) {
  PackedFile file(200'000, 60'000);
  ASSERT_NE(file.last_magic(), nullptr);
  *file.last_magic() = std::byte{0};
  ZstdReader here;
  UnpackAhead ahead(file.bytes());
  const auto expected = numbers_of(here, file.bytes());
  EXPECT_EQ(expected.size(), 150'001U);
  EXPECT_EQ(expected.back(), ~std::size_t{0});
  EXPECT_EQ(numbers_of(ahead, file.bytes()), expected);
}

TEST(UnpackAheadTest, who_stops_early_waits_for_nothing) {
  PackedFile file(200'000, 1000);
  UnpackAhead ahead(file.bytes());
  PayloadWalk walk(file.bytes());
  ahead.feed(*walk.next());
  EXPECT_TRUE(ahead.next().ok());
}

TEST(UnpackAheadTest, a_payload_that_is_not_in_the_file_is_an_error) {
  PackedFile file(10, 1000);
  UnpackAhead ahead(file.bytes());
  EXPECT_EQ(numbers_of(ahead, file.bytes()).size(), 10U);
  ahead.feed(file.bytes());
  EXPECT_FALSE(ahead.next().ok());
  EXPECT_FALSE(ahead.has_more());
}

}  // namespace
}  // namespace memtrace
