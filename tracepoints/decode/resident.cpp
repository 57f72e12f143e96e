// filemap: pages that come into the page cache and go (include/trace/events/filemap.h, 3.10 and
// RHEL 7 on), kmem:rss_stat, what of an address space is resident (5.5 on), and RHEL 6's own events
// of single pages.
#include <array>

#include "tracepoints/decode/tracepoint.h"
#include "tracepoints/format/field_lookup.h"

namespace memtrace {
namespace {

// The kernel's own dev_t: include/linux/kdev_t.h, MINORBITS.
constexpr unsigned kMinorBits = 20;
// As for page allocations: no order reaches this.
constexpr std::uint64_t kBeyondAnyFolio = 32;

Result<Decoder> bind_page_cache(const EventFormat& format, bool added) {
  FieldLookup lookup(format);
  const NumberAt inode = lookup.required({"i_ino"});
  const NumberAt index = lookup.required({"index"});
  const NumberAt device = lookup.required({"s_dev"});
  const std::optional<NumberAt> order = lookup.optional("order");  // 6.1 on: else single pages
  const std::size_t needed_bytes = lookup.needed_bytes();
  TRY(lookup.check());
  return Decoder([=](const RawSample& sample) -> RawPayload {
    const std::byte* data = sample.raw.data();
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    const std::uint64_t folio_order = order ? order->load(data) : 0;
    if (folio_order >= kBeyondAnyFolio) {
      return {};
    }
    const auto number = static_cast<std::uint32_t>(device.load(data));
    return PageCacheChange{.device_major = number >> kMinorBits,
                           .device_minor = number & ((1U << kMinorBits) - 1),
                           .inode = inode.load(data),
                           .index = index.load(data),
                           .order = static_cast<std::uint32_t>(folio_order),
                           .added = added};
  });
}

Result<Decoder> bind_added(const EventFormat& format) {
  return bind_page_cache(format, true);
}

Result<Decoder> bind_deleted(const EventFormat& format) {
  return bind_page_cache(format, false);
}

RssMember member_of(std::uint64_t number) {
  constexpr auto kOther = static_cast<std::uint64_t>(RssMember::Other);
  return static_cast<RssMember>(number < kOther ? number : kOther);
}

Result<Decoder> bind_rss_stat(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt mm_id = lookup.required({"mm_id"});
  const NumberAt is_of_task = lookup.required({"curr"});
  const NumberAt member = lookup.required({"member"});
  const NumberAt size = lookup.required({"size"});
  const std::size_t needed_bytes = lookup.needed_bytes();
  TRY(lookup.check());
  return Decoder([=](const RawSample& sample) -> RawPayload {
    const std::byte* data = sample.raw.data();
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    // Counters of several CPUs are added up without a lock: the sum may be below zero for a moment.
    const auto bytes = static_cast<std::int64_t>(size.load(data));
    return RssStat{.mm_id = static_cast<std::uint32_t>(mm_id.load(data)),
                   .is_of_task = is_of_task.load(data) != 0,
                   .member = member_of(member.load(data)),
                   .bytes = bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes)};
  });
}

// An address space and a page of it: what happened to it is in the name alone.
template <ResidentChange kChange, RssMember kMember>
Result<Decoder> bind_page(const EventFormat& format) {
  FieldLookup lookup(format);
  lookup.required({"mm"});
  lookup.required({"address"});
  const std::size_t needed_bytes = lookup.needed_bytes();
  TRY(lookup.check());
  return Decoder([needed_bytes](const RawSample& sample) -> RawPayload {
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    return ResidentPage{.change = kChange, .member = kMember};
  });
}

constexpr auto kAnonGivenBack = &bind_page<ResidentChange::GivenBack, RssMember::Anonymous>;
constexpr auto kFileGivenBack = &bind_page<ResidentChange::GivenBack, RssMember::File>;
constexpr auto kAnonCopied = &bind_page<ResidentChange::Copied, RssMember::Anonymous>;
constexpr auto kFileCopied = &bind_page<ResidentChange::Copied, RssMember::File>;

}  // namespace

std::span<const Tracepoint> resident_tracepoints() {
  static constexpr std::array<Tracepoint, 7> kTracepoints = {
      {{.name = "filemap:mm_filemap_add_to_page_cache",
        .bind = &bind_added,
        .when_missing = "pages that enter the page cache are not seen"},
       {"filemap:mm_filemap_delete_from_page_cache", &bind_deleted},
       {.name = "kmem:rss_stat",
        .bind = &bind_rss_stat,
        .when_missing = "columns that need it stay blank"},
       {"kmem:mm_anon_userfree", kAnonGivenBack},
       {"kmem:mm_filemap_userunmap", kFileGivenBack},
       {"kmem:mm_anon_cow", kAnonCopied},
       {"kmem:mm_filemap_cow", kFileCopied}}};
  return kTracepoints;
}

}  // namespace memtrace
