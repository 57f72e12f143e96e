#include <gtest/gtest.h>

#include "support/saved_formats.h"
#include "tracepoints/decode/catalogue.h"

namespace memtrace {
namespace {

template <typename Payload>
Payload decode(const std::string& kernel, const std::string& event, const RawBytes& raw) {
  const auto decoder = decoder_for({event, 0, saved_format(kernel, event)});
  if (!decoder.ok()) {
    ADD_FAILURE() << describe(decoder.error());
    return {};
  }
  const RawPayload payload = decoder.value()({.raw = raw.span()});
  if (!std::holds_alternative<Payload>(payload)) {
    ADD_FAILURE() << kernel << " " << event << ": payload " << payload.index();
    return {};
  }
  return std::get<Payload>(payload);
}

constexpr const char* kAdded = "filemap:mm_filemap_add_to_page_cache";
constexpr const char* kDeleted = "filemap:mm_filemap_delete_from_page_cache";

RawBytes page_cache_bytes() {
  RawBytes raw(40);
  raw.put<std::uint64_t>(8, 0x1234).put<std::uint64_t>(16, 77).put<std::uint64_t>(24, 5);
  raw.put<std::uint32_t>(32, 254U << 20U | 3U).put<std::uint8_t>(36, 4);
  return raw;
}

TEST(page_cache_decoder, tells_the_file_and_the_pages) {
  for (const char* kernel : {"5.10", "6.1", "6.12"}) {
    const auto added = decode<PageCacheChange>(kernel, kAdded, page_cache_bytes());
    EXPECT_EQ(added.device_major, 254U);
    EXPECT_EQ(added.device_minor, 3U);
    EXPECT_EQ(added.inode, 77U);
    EXPECT_EQ(added.index, 5U);
    EXPECT_TRUE(added.added);
    EXPECT_FALSE(decode<PageCacheChange>(kernel, kDeleted, page_cache_bytes()).added);
  }
}

TEST(page_cache_decoder, order_is_of_folios_and_single_pages_have_none) {
  EXPECT_EQ(decode<PageCacheChange>("5.10", kAdded, page_cache_bytes()).order, 0U);
  EXPECT_EQ(decode<PageCacheChange>("6.1", kAdded, page_cache_bytes()).order, 4U);
  EXPECT_EQ(decode<PageCacheChange>("6.12", kDeleted, page_cache_bytes()).order, 4U);
}

TEST(page_cache_decoder, damaged_order_has_no_payload) {
  RawBytes raw = page_cache_bytes();
  raw.put<std::uint8_t>(36, 200);
  const auto decoder = decoder_for({kAdded, 0, saved_format("6.12", kAdded)});
  ASSERT_TRUE(decoder.ok());
  EXPECT_EQ(decoder.value()({.raw = raw.span()}).index(), 0U);
}

RawBytes rss_bytes(std::int32_t member, std::int64_t bytes) {
  RawBytes raw(32);
  raw.put<std::uint32_t>(8, 0xabcd).put<std::uint32_t>(12, 1);
  raw.put<std::int32_t>(16, member).put<std::int64_t>(24, bytes);
  return raw;
}

TEST(rss_decoder, tells_address_space_member_and_bytes) {
  for (const char* kernel : {"5.10", "6.1", "6.12"}) {
    const auto stat = decode<RssStat>(kernel, "kmem:rss_stat", rss_bytes(1, 8192));
    EXPECT_EQ(stat.mm_id, 0xabcdU);
    EXPECT_TRUE(stat.is_of_task);
    EXPECT_EQ(stat.member, RssMember::Anonymous);
    EXPECT_EQ(stat.bytes, 8192U);
  }
}

TEST(rss_decoder, what_is_below_zero_is_nothing_and_unknown_members_are_others) {
  EXPECT_EQ(decode<RssStat>("6.12", "kmem:rss_stat", rss_bytes(0, -4096)).bytes, 0U);
  EXPECT_EQ(decode<RssStat>("6.12", "kmem:rss_stat", rss_bytes(9, 1)).member, RssMember::Other);
  EXPECT_EQ(decode<RssStat>("6.12", "kmem:rss_stat", rss_bytes(-1, 1)).member, RssMember::Other);
}

}  // namespace
}  // namespace memtrace
