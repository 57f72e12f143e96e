#include <gtest/gtest.h>

#include <string>

#include "support/saved_formats.h"
#include "tracepoints/decode/catalogue.h"

namespace memtrace {
namespace {

Decoder decoder_of(const EventFormat& format) {
  auto decoder = decoder_for({format.system + ":" + format.name, 0, format});
  if (!decoder.ok()) {
    ADD_FAILURE() << describe(decoder.error());
    return [](const RawSample&) { return RawPayload(); };
  }
  return decoder.take();
}

template <typename Payload>
Payload decode(const EventFormat& format, const RawBytes& raw) {
  const RawPayload payload = decoder_of(format)({.raw = raw.span()});
  if (!std::holds_alternative<Payload>(payload)) {
    ADD_FAILURE() << format.name << ": payload " << payload.index();
    return {};
  }
  return std::get<Payload>(payload);
}

constexpr std::uint64_t kCaller = 0xffffffff81234567U;
constexpr std::uint64_t kBlock = 0xffff888012345678U;

RawBytes slab_bytes(std::size_t size_bytes) {
  RawBytes raw(size_bytes);
  raw.put(8, kCaller).put(16, kBlock);
  raw.put<std::uint64_t>(24, 100).put<std::uint64_t>(32, 128);
  return raw;
}

void expect_slab(const SlabAlloc& alloc) {
  EXPECT_EQ(alloc.call_site, kCaller);
  EXPECT_EQ(alloc.ptr, kBlock);
  EXPECT_EQ(alloc.bytes_req, 100U);
  EXPECT_EQ(alloc.bytes_alloc, 128U);
  EXPECT_EQ(alloc.gfp, 0xdc0U);
}

TEST(slab_decoder, kmalloc_of_5_10_has_narrow_flags_and_no_node) {
  RawBytes raw = slab_bytes(44);
  raw.put<std::uint32_t>(40, 0xdc0);
  const auto alloc = decode<SlabAlloc>(saved_format("5.10", "kmem:kmalloc"), raw);
  expect_slab(alloc);
  EXPECT_EQ(alloc.node, -1);
  EXPECT_TRUE(alloc.kmalloc);
  EXPECT_EQ(alloc.cache, "");
}

TEST(slab_decoder, kmalloc_node_of_5_10_has_its_node) {
  RawBytes raw = slab_bytes(48);
  raw.put<std::uint32_t>(40, 0xdc0).put<std::int32_t>(44, 3);
  const auto alloc = decode<SlabAlloc>(saved_format("5.10", "kmem:kmalloc_node"), raw);
  expect_slab(alloc);
  EXPECT_EQ(alloc.node, 3);
  EXPECT_TRUE(alloc.kmalloc);
}

TEST(slab_decoder, cache_allocations_since_6_1_have_wide_flags_and_a_node) {
  RawBytes raw = slab_bytes(56);
  raw.put<std::uint64_t>(40, 0xdc0).put<std::int32_t>(48, -1);
  for (const char* kernel : {"6.1", "6.12"}) {
    const auto alloc = decode<SlabAlloc>(saved_format(kernel, "kmem:kmem_cache_alloc"), raw);
    expect_slab(alloc);
    EXPECT_EQ(alloc.node, -1);
    EXPECT_FALSE(alloc.kmalloc);
    EXPECT_TRUE(decode<SlabAlloc>(saved_format(kernel, "kmem:kmalloc"), raw).kmalloc);
  }
}

TEST(slab_decoder, kmalloc_of_2_6_32_is_read_behind_the_lock_depth) {
  const auto format = parse_format(kOldKmalloc, "kmem");
  ASSERT_TRUE(format.ok());
  RawBytes raw(52);
  raw.put(16, kCaller).put(24, kBlock).put<std::uint64_t>(32, 100).put<std::uint64_t>(40, 128);
  raw.put<std::uint32_t>(48, 0xdc0);
  expect_slab(decode<SlabAlloc>(format.value(), raw));
}

TEST(slab_decoder, cache_name_of_an_allocation_is_read_where_the_kernel_has_it) {
  // As 6.18 lays it out: name is __data_loc at 24, everything behind moves.
  EventFormat format = saved_format("6.12", "kmem:kmem_cache_alloc");
  for (Field& field : format.fields) {
    field.offset_bytes += field.offset_bytes >= 24 ? 8 : 0;
  }
  Field name;
  name.name = "name";
  name.offset_bytes = 24;
  name.size_bytes = 4;
  name.kind = FieldKind::DynamicText;
  format.fields.push_back(name);
  RawBytes raw(80);
  raw.put(16, kBlock).put(24, location(64, 7)).put<std::uint64_t>(32, 100).put_text(64, "dentry");
  const auto alloc = decode<SlabAlloc>(format, raw);
  EXPECT_EQ(alloc.ptr, kBlock);
  EXPECT_EQ(alloc.bytes_req, 100U);
  EXPECT_EQ(alloc.cache, "dentry");
}

TEST(slab_decoder, frees_name_their_cache_since_5_15) {
  RawBytes raw(40);
  raw.put(8, kCaller).put(16, kBlock).put(24, location(28, 8)).put_text(28, "task_st");
  const auto old = decode<SlabFree>(saved_format("5.10", "kmem:kmem_cache_free"), raw);
  EXPECT_EQ(old.ptr, kBlock);
  EXPECT_EQ(old.cache, "");
  for (const char* kernel : {"6.1", "6.12"}) {
    const auto free = decode<SlabFree>(saved_format(kernel, "kmem:kmem_cache_free"), raw);
    EXPECT_EQ(free.call_site, kCaller);
    EXPECT_EQ(free.ptr, kBlock);
    EXPECT_FALSE(free.kmalloc);
    EXPECT_EQ(free.cache, "task_st");
    EXPECT_TRUE(decode<SlabFree>(saved_format(kernel, "kmem:kfree"), raw).kmalloc);
  }
}

TEST(page_decoder, allocation_is_read_at_each_kernels_offsets) {
  RawBytes narrow(28);
  narrow.put<std::uint64_t>(8, 0x1234).put<std::uint32_t>(16, 3);
  narrow.put<std::uint32_t>(20, 0xcc0).put<std::int32_t>(24, 1);
  RawBytes wide(36);
  wide.put<std::uint64_t>(8, 0x1234).put<std::uint32_t>(16, 3);
  wide.put<std::uint64_t>(24, 0xcc0).put<std::int32_t>(32, 1);
  for (const auto& [kernel, raw] :
       {std::pair{"5.10", narrow}, std::pair{"6.1", wide}, std::pair{"6.12", wide}}) {
    const auto alloc = decode<PageAlloc>(saved_format(kernel, "kmem:mm_page_alloc"), raw);
    EXPECT_EQ(alloc.page, 0x1234U) << kernel;
    EXPECT_EQ(alloc.order, 3U);
    EXPECT_EQ(alloc.gfp, 0xcc0U);
    EXPECT_EQ(alloc.migratetype, 1);
    EXPECT_FALSE(alloc.failed);
    EXPECT_TRUE(alloc.page_is_pfn);
  }
}

// GFP_TRANSHUGE_LIGHT is of huge pages, GFP_HIGHUSER_MOVABLE of the page cache.
TEST(page_decoder, flags_of_huge_pages_are_known_by_their_names) {
  for (const char* kernel : {"5.10", "6.1", "6.12"}) {
    const EventFormat format = saved_format(kernel, "kmem:mm_page_alloc");
    const Field* gfp = format.find("gfp_flags");
    ASSERT_NE(gfp, nullptr);
    const auto value_of = [gfp](std::string_view name) {
      return std::ranges::find(gfp->flags, name, &FlagName::name)->mask;
    };
    RawBytes raw(36);
    raw.put<std::uint32_t>(16, 4);
    const auto decoded_with = [&](std::uint64_t flags) {
      for (std::size_t byte = 0; byte < gfp->size_bytes; ++byte) {
        raw.put<std::uint8_t>(gfp->offset_bytes + byte,
                              static_cast<std::uint8_t>(flags >> (8 * byte)));
      }
      return decode<PageAlloc>(format, raw);
    };
    EXPECT_TRUE(decoded_with(value_of("GFP_TRANSHUGE_LIGHT")).like_huge_page) << kernel;
    EXPECT_FALSE(decoded_with(value_of("GFP_HIGHUSER_MOVABLE")).like_huge_page) << kernel;
    EXPECT_EQ(value_of("__GFP_NOMEMALLOC"), 0x80000U) << "as kFolioFilter has it";
  }
}

TEST(page_decoder, failed_allocation_has_pfn_minus_one_but_pfn_zero_is_a_page) {
  const EventFormat format = saved_format("6.1", "kmem:mm_page_alloc");
  RawBytes raw(36);
  EXPECT_FALSE(decode<PageAlloc>(format, raw).failed);
  raw.put<std::int64_t>(8, -1);
  EXPECT_TRUE(decode<PageAlloc>(format, raw).failed);
  EXPECT_EQ(decode<PageAlloc>(format, raw).page, 0U);
}

EventFormat renamed_to_page(EventFormat format) {
  for (Field& field : format.fields) {
    field.name = field.name == "pfn" ? "page" : field.name;
  }
  return format;
}

TEST(page_decoder, struct_page_addresses_of_old_kernels_are_marked_and_null_is_a_failure) {
  const EventFormat format = renamed_to_page(saved_format("5.10", "kmem:mm_page_alloc"));
  RawBytes raw(28);
  EXPECT_TRUE(decode<PageAlloc>(format, raw).failed);
  raw.put(8, kBlock);
  EXPECT_FALSE(decode<PageAlloc>(format, raw).failed);
  EXPECT_FALSE(decode<PageAlloc>(format, raw).page_is_pfn);
  EXPECT_EQ(decode<PageAlloc>(format, raw).page, kBlock);
}

TEST(page_decoder, pagevec_free_of_2_6_32_frees_single_pages) {
  EventFormat format = renamed_to_page(saved_format("5.10", "kmem:mm_page_free"));
  RawBytes raw(20);
  raw.put(8, kBlock).put<std::uint32_t>(16, 2);
  format.name = "mm_page_free_direct";
  EXPECT_EQ(decode<PageFree>(format, raw).order, 2U);
  format.name = "mm_pagevec_free";
  std::erase_if(format.fields, [](const Field& field) { return field.name == "order"; });
  EXPECT_EQ(decode<PageFree>(format, raw).order, 0U);
  EXPECT_EQ(decode<PageFree>(format, raw).page, kBlock);
  EXPECT_FALSE(decode<PageFree>(format, raw).page_is_pfn);
}

TEST(fault_decoder, tracepoints_tell_address_ip_and_error_code) {
  RawBytes raw(32);
  raw.put<std::uint64_t>(8, 0x7f00).put<std::uint64_t>(16, 0x401000).put<std::uint64_t>(24, 6);
  for (const char* kernel : {"5.10", "6.1", "6.12"}) {
    const auto user = decode<PageFault>(saved_format(kernel, "exceptions:page_fault_user"), raw);
    EXPECT_EQ(user.address, 0x7f00U);
    EXPECT_EQ(user.ip, 0x401000U);
    EXPECT_EQ(user.error_code, 6U);
    EXPECT_TRUE(user.has_error_code);
    EXPECT_FALSE(user.in_kernel);
    const auto own = decode<PageFault>(saved_format(kernel, "exceptions:page_fault_kernel"), raw);
    EXPECT_TRUE(own.in_kernel);
  }
}

TEST(fault_decoder, software_events_take_address_and_ip_from_the_sample) {
  const std::pair<const char*, FaultStage> events[] = {{"page-faults", FaultStage::Entry},
                                                       {"faults:u", FaultStage::Entry},
                                                       {"minor-faults", FaultStage::Minor},
                                                       {"major-faults", FaultStage::Major}};
  for (const auto& [name, stage] : events) {
    const auto decoder = decoder_for({name, 0, {}});
    ASSERT_TRUE(decoder.ok()) << name;
    const RawPayload payload = decoder.value()({.raw = {}, .address = 0x7f00, .ip = 0x401000});
    const auto* fault = std::get_if<PageFault>(&payload);
    ASSERT_NE(fault, nullptr) << name;
    EXPECT_EQ(fault->address, 0x7f00U);
    EXPECT_EQ(fault->ip, 0x401000U);
    EXPECT_EQ(fault->stage, stage) << name;
    EXPECT_FALSE(fault->has_error_code);
  }
}

TEST(decoders, sample_too_short_for_its_fields_has_no_payload) {
  const char* events[] = {"kmem:kmalloc",
                          "kmem:kmem_cache_alloc",
                          "kmem:kfree",
                          "kmem:kmem_cache_free",
                          "kmem:mm_page_alloc",
                          "kmem:mm_page_free",
                          "exceptions:page_fault_user"};
  for (const char* event : events) {
    const EventFormat format = saved_format("6.12", event);
    const Decoder decoder = decoder_of(format);
    std::size_t shortest_bytes = 0;
    // Each length in an allocation of its own, so that a sanitizer sees a read beyond it.
    for (std::size_t size_bytes = 0; size_bytes <= 72; ++size_bytes) {
      const RawBytes raw(size_bytes);
      const bool none = std::holds_alternative<std::monostate>(decoder({.raw = raw.span()}));
      shortest_bytes = none ? size_bytes + 1 : shortest_bytes;
    }
    EXPECT_GE(shortest_bytes, 20U) << event;
    EXPECT_LE(shortest_bytes, 52U) << event;
  }
}

TEST(decoders, event_without_a_typed_payload_yields_none) {
  const EventFormat format = saved_format("6.1", "kmem:mm_page_pcpu_drain");
  EXPECT_EQ(find_tracepoint("kmem:mm_page_pcpu_drain"), nullptr);
  const RawBytes raw(64);
  EXPECT_EQ(decoder_of(format)({.raw = raw.span()}).index(), 0U);
}

TEST(decoders, missing_field_is_an_error_that_names_event_and_field) {
  EventFormat format = saved_format("6.1", "kmem:kmalloc");
  std::erase_if(format.fields, [](const Field& field) { return field.name == "bytes_alloc"; });
  const auto decoder = decoder_for({"kmem:kmalloc", 0, format});
  ASSERT_FALSE(decoder.ok());
  EXPECT_EQ(decoder.error().message, "decoding kmem:kmalloc: no field 'bytes_alloc'");
  EXPECT_FALSE(decoder.error().hint.empty());
}

TEST(decoders, event_whose_format_was_lost_is_an_error) {
  EXPECT_FALSE(decoder_for({"kmem:mm_page_free", 0, {}}).ok());
}

TEST(decoders, modifiers_in_a_recorded_name_do_not_matter) {
  EXPECT_EQ(find_tracepoint("kmem:kmalloc:k"), find_tracepoint("kmem:kmalloc"));
  EXPECT_NE(find_tracepoint("kmem:kmalloc:k"), nullptr);
  EXPECT_EQ(find_tracepoint("page-faults:u"), find_tracepoint("faults"));
  EXPECT_EQ(find_tracepoint("kmem:kmallocs"), nullptr);
  EXPECT_EQ(find_tracepoint("kmem"), nullptr);
  EXPECT_EQ(find_tracepoint(""), nullptr);
}

}  // namespace
}  // namespace memtrace
