#include "tracepoints/decode/heap.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "tracepoints/decode/catalogue.h"

namespace memtrace {
namespace {

// A probe's format with these fields, 8 bytes each.
EventType probe(const std::string& name, const std::vector<std::string>& fields) {
  EventType type;
  type.name = "memtrace_heap_12:" + name;
  for (const std::string& field : fields) {
    const auto offset = static_cast<std::uint32_t>(type.format.fields.size() * 8);
    type.format.fields.push_back({.name = field, .offset_bytes = offset, .size_bytes = 8});
  }
  return type;
}

RawPayload decode(const EventType& type, const std::array<std::uint64_t, 3>& values) {
  auto decoder = decoder_for(type);
  EXPECT_TRUE(decoder.ok());
  return decoder.value()({.raw = std::as_bytes(std::span(values))});
}

TEST(HeapProbe, a_size_is_an_allocation) {
  const RawPayload payload = decode(probe("malloc", {"size", "sp"}), {24, 0x7ffc12345678});
  const auto& call = std::get<HeapCall>(payload);
  EXPECT_EQ(call.op, HeapOp::Alloc);
  EXPECT_EQ(call.bytes, 24U);
  EXPECT_EQ(call.stack_pointer, 0x12345678U);
}

TEST(HeapProbe, a_count_multiplies_the_size_and_does_not_wrap) {
  const EventType calloc = probe("calloc", {"count", "size"});
  EXPECT_EQ(std::get<HeapCall>(decode(calloc, {3, 8})).bytes, 24U);
  EXPECT_EQ(std::get<HeapCall>(decode(calloc, {1ULL << 60U, 32})).bytes, ~0ULL);
}

TEST(HeapProbe, a_pointer_and_a_size_are_a_realloc) {
  const auto call = std::get<HeapCall>(decode(probe("realloc", {"ptr", "size"}), {0x10, 8}));
  EXPECT_EQ(call.op, HeapOp::Realloc);
  EXPECT_EQ(call.address, 0x10U);
  EXPECT_EQ(call.bytes, 8U);
}

TEST(HeapProbe, a_pointer_alone_is_a_free) {
  const auto call = std::get<HeapCall>(decode(probe("free", {"ptr"}), {0x10}));
  EXPECT_EQ(call.op, HeapOp::Free);
  EXPECT_EQ(call.address, 0x10U);
}

TEST(HeapProbe, a_result_is_a_return_with_the_chunks_size_if_it_was_read) {
  const auto plain = std::get<HeapReturn>(decode(probe("malloc_ret", {"result"}), {0x10}));
  EXPECT_EQ(plain.address, 0x10U);
  EXPECT_FALSE(plain.usable_bytes);
  // A chunk of 32 bytes with PREV_INUSE: 24 of them are the program's.
  const auto sized =
      std::get<HeapReturn>(decode(probe("malloc_ret", {"result", "chunk"}), {0x10, 33}));
  EXPECT_EQ(sized.usable_bytes, 24U);
}

TEST(HeapProbe, a_short_sample_is_malformed) {
  auto decoder = decoder_for(probe("malloc", {"size"}));
  const std::array<std::byte, 7> raw{};
  EXPECT_TRUE(std::holds_alternative<std::monostate>(decoder.value()({.raw = raw})));
}

TEST(HeapProbe, a_probe_of_no_known_fields_is_an_error_that_names_one) {
  const auto decoder = decoder_for(probe("malloc", {"other"}));
  ASSERT_FALSE(decoder.ok());
  EXPECT_NE(decoder.error().message.find("size"), std::string::npos);
}

TEST(HeapName, tells_functions_calls_and_returns) {
  EXPECT_EQ(heap_function("memtrace_heap_12:malloc"), "malloc");
  EXPECT_EQ(heap_function("memtrace_heap_12:malloc_2_ret_3"), "malloc");
  EXPECT_EQ(heap_call_name("memtrace_heap_12:malloc_2_ret_3"), "malloc_2");
  EXPECT_EQ(heap_call_name("memtrace_heap_12:malloc_ret"), "malloc");
  EXPECT_EQ(heap_call_name("memtrace_heap_12:malloc_2"), "malloc_2");
  EXPECT_EQ(heap_function("memtrace_heap_12:posix_memalign:u"), "posix_memalign");
  EXPECT_TRUE(is_heap_return("memtrace_heap_12:calloc_ret"));
  EXPECT_FALSE(is_heap_return("memtrace_heap_12:calloc"));
  EXPECT_FALSE(is_heap_event("kmem:kmalloc"));
  EXPECT_FALSE(is_heap_event("memtrace_12:mine"));
}

}  // namespace
}  // namespace memtrace
