// kmem: mm_page_alloc and the frees of pages (include/trace/events/kmem.h). A page is named by
// `page`, the address of its struct page, up to 3.18 and on RHEL 6 and 7; by `pfn` later.
#include <algorithm>
#include <array>

#include "tracepoints/decode/tracepoint.h"
#include "tracepoints/format/field_lookup.h"

namespace memtrace {
namespace {

// mm_page_alloc fires for a failed allocation too: page is NULL then, and pfn -1UL (the print fmt
// says so). pfn 0 is a page.
constexpr std::uint64_t kNoPfn = ~std::uint64_t{0};

// A block has page size << order bytes. No kernel's MAX_ORDER reaches this (Kconfig: at most 13), a
// damaged file's may be any number, by which no value can be shifted.
constexpr std::uint64_t kBeyondAnyOrder = 32;

struct PageIdentity {
  NumberAt at;
  bool is_pfn = true;

  bool none(std::uint64_t page) const { return page == (is_pfn ? kNoPfn : 0); }
};

PageIdentity find_page(FieldLookup& lookup) {
  const bool is_pfn = lookup.has("pfn");
  return {lookup.required({"pfn", "page"}), is_pfn};
}

// 0 where the format does not name it.
std::uint64_t flag_named(const EventFormat& format, std::string_view name) {
  const Field* flags = format.find("gfp_flags");
  if (flags == nullptr) {
    return 0;
  }
  const auto found = std::ranges::find(flags->flags, name, &FlagName::name);
  return found == flags->flags.end() ? 0 : found->mask;
}

Result<Decoder> bind_page_alloc(const EventFormat& format) {
  FieldLookup lookup(format);
  const PageIdentity identity = find_page(lookup);
  const NumberAt order = lookup.required({"order"});
  const NumberAt gfp = lookup.required({"gfp_flags"});
  const NumberAt migratetype = lookup.required({"migratetype"});
  const std::uint64_t no_reserves = flag_named(format, "__GFP_NOMEMALLOC");
  const std::size_t needed_bytes = lookup.needed_bytes();
  TRY(lookup.check());
  return Decoder([=](const RawSample& sample) -> RawPayload {
    const std::byte* data = sample.raw.data();
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    const std::uint64_t page = identity.at.load(data);
    const std::uint64_t block_order = order.load(data);
    if (block_order >= kBeyondAnyOrder) {
      return {};
    }
    const bool failed = identity.none(page);
    const std::uint64_t flags = gfp.load(data);
    return PageAlloc{.page = failed ? 0 : page,
                     .order = static_cast<std::uint32_t>(block_order),
                     .gfp = flags,
                     .migratetype = static_cast<std::int32_t>(migratetype.load(data)),
                     .failed = failed,
                     .page_is_pfn = identity.is_pfn,
                     .like_huge_page = (flags & no_reserves) != 0};
  });
}

// mm_pagevec_free (2.6.32, RHEL 6) has no order: its pages are single ones.
Result<Decoder> bind_page_free(const EventFormat& format) {
  FieldLookup lookup(format);
  const PageIdentity identity = find_page(lookup);
  const std::optional<NumberAt> order = lookup.optional("order");
  const std::size_t needed_bytes = lookup.needed_bytes();
  TRY(lookup.check());
  return Decoder([=](const RawSample& sample) -> RawPayload {
    const std::byte* data = sample.raw.data();
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    const std::uint64_t block_order = order ? order->load(data) : 0;
    if (block_order >= kBeyondAnyOrder) {
      return {};
    }
    return PageFree{.page = identity.at.load(data),
                    .order = static_cast<std::uint32_t>(block_order),
                    .page_is_pfn = identity.is_pfn};
  });
}

}  // namespace

std::span<const Tracepoint> page_tracepoints() {
  static constexpr std::array<Tracepoint, 4> kTracepoints = {
      {{"kmem:mm_page_alloc", &bind_page_alloc},
       {"kmem:mm_page_free", &bind_page_free, EventRole::Free},
       {"kmem:mm_page_free_direct", &bind_page_free, EventRole::Free, "kmem:mm_page_free"},
       {"kmem:mm_pagevec_free", &bind_page_free, EventRole::Free}}};
  return kTracepoints;
}

}  // namespace memtrace
