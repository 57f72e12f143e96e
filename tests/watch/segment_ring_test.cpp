#include "watch/segment_ring.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

ZstdPiece piece(std::size_t size_bytes, int filling) {
  return {.bytes = std::vector<std::byte>(size_bytes, static_cast<std::byte>(filling)),
          .plain_bytes = size_bytes,
          .sample_count = 1};
}

void begin(SegmentRing& ring, std::uint64_t began_ns) {
  ring.begin({.start_ns = began_ns, .began_ns = began_ns});
}

// Every piece that is still listed has its own bytes.
void expect_whole(const SegmentRing& ring) {
  for (const auto& segment : ring.segments()) {
    for (const auto& piece : segment.pieces) {
      const auto bytes = ring.bytes_of(piece);
      for (const std::byte byte : bytes) {
        ASSERT_EQ(byte, static_cast<std::byte>(segment.facts.began_ns));
      }
    }
  }
}

TEST(SegmentRing, oldest_segment_makes_room_as_a_whole) {
  auto ring = SegmentRing::create(1000);
  ASSERT_TRUE(ring.ok());
  for (int number = 1; number <= 50; ++number) {
    begin(ring.value(), static_cast<std::uint64_t>(number));
    for (std::size_t i = 0; i < 3; ++i) {
      ring.value().append(piece(60 + 7 * i, number), i == 0);
    }
    expect_whole(ring.value());
    EXPECT_EQ(ring.value().segments().back().facts.began_ns, static_cast<std::uint64_t>(number));
    EXPECT_EQ(ring.value().segments().back().pieces.size(), 3U);
    EXPECT_EQ(ring.value().newest_bytes(), 201U);
  }
  EXPECT_EQ(ring.value().segments().size(), 4U);  // 804 of 1000 bytes
  EXPECT_EQ(ring.value().crowded_out(), 46U);
  EXPECT_EQ(ring.value().lost_samples(), 0U);
}

TEST(SegmentRing, what_one_segment_has_no_room_for_is_counted) {
  auto ring = SegmentRing::create(100);
  ASSERT_TRUE(ring.ok());
  begin(ring.value(), 1);
  ring.value().append(piece(60, 1), false);
  ring.value().append(piece(60, 1), false);
  ring.value().append(piece(40, 1), false);
  EXPECT_EQ(ring.value().lost_samples(), 1U);
  EXPECT_EQ(ring.value().segments().back().pieces.size(), 2U);
  expect_whole(ring.value());
}

TEST(SegmentRing, segments_go_when_the_next_one_is_old_enough) {
  auto ring = SegmentRing::create(1000);
  ASSERT_TRUE(ring.ok());
  for (const std::uint64_t began_ns : {10, 20, 30}) {
    begin(ring.value(), began_ns);
  }
  ring.value().forget_before(19);
  EXPECT_EQ(ring.value().segments().size(), 3U);
  ring.value().forget_before(25);
  EXPECT_EQ(ring.value().segments().front().facts.began_ns, 20U);
  ring.value().forget_before(1000);
  EXPECT_EQ(ring.value().segments().size(), 1U);
  EXPECT_EQ(ring.value().crowded_out(), 0U);
}

TEST(SegmentRing, a_file_begins_with_the_newest_segment_that_is_old_enough) {
  auto ring = SegmentRing::create(1000);
  ASSERT_TRUE(ring.ok());
  for (const std::uint64_t began_ns : {10, 20, 30}) {
    begin(ring.value(), began_ns);
  }
  EXPECT_EQ(ring.value().segment_at(5), 0U);
  EXPECT_EQ(ring.value().segment_at(19), 0U);
  EXPECT_EQ(ring.value().segment_at(20), 1U);
  EXPECT_EQ(ring.value().segment_at(99), 2U);
}

}  // namespace
}  // namespace memtrace
