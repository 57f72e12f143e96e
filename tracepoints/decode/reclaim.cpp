// vmscan: reclaim of pages and the shrinking of slab caches (include/trace/events/vmscan.h). On
// 2.6.32 and RHEL 6 the events that exist are in the kmem group under the same names.
#include <algorithm>
#include <array>

#include "tracepoints/decode/reading.h"

namespace memtrace {
namespace {

template <WorkKind Kind>
Result<Decoder> bind_begin(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt order = lookup.required({"order"});
  const NumberAt gfp = lookup.required({"gfp_flags"});
  const std::optional<NumberAt> node = lookup.optional("nid");
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return WorkBegin{.kind = Kind,
                     .node = load_or(node, raw, std::int32_t{-1}),
                     .order = static_cast<std::int32_t>(order.load(raw.data())),
                     .gfp = gfp.load(raw.data())};
  });
}

template <WorkKind Kind>
Result<Decoder> bind_end(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt pages = lookup.required({"nr_reclaimed"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return WorkEnd{.kind = Kind, .pages = pages.load(raw.data())};
  });
}

// `priority` (since 4.18) and `pgs_scanned` (before) are not needed.
Result<Decoder> bind_shrink_begin(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt shrinker = lookup.required({"shr"});
  const NumberAt function = lookup.required({"shrink"});
  const NumberAt gfp = lookup.required({"gfp_flags"});
  const std::optional<NumberAt> node = lookup.optional("nid");
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return WorkBegin{.kind = WorkKind::SlabShrink,
                     .node = load_or(node, raw, std::int32_t{-1}),
                     .gfp = gfp.load(raw.data()),
                     .object = shrinker.load(raw.data()),
                     .function = function.load(raw.data())};
  });
}

// retval is the number of objects freed since shrinkers know nodes (mm/vmscan.c of 3.12); before,
// what was left of the cache. Negative: the shrinker could not work.
Result<Decoder> bind_shrink_end(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt shrinker = lookup.required({"shr"});
  const NumberAt freed = lookup.required({"retval"});
  const bool is_freed = lookup.has("nid");
  return reading(lookup, [=](std::span<const std::byte> raw) {
    const auto objects = static_cast<std::int32_t>(freed.load(raw.data()));
    return WorkEnd{.kind = WorkKind::SlabShrink,
                   .object = shrinker.load(raw.data()),
                   .pages = is_freed ? static_cast<std::uint64_t>(std::max(objects, 0)) : 0,
                   .has_pages = is_freed};
  });
}

Result<Decoder> bind_kswapd_wake(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt node = lookup.required({"nid"});
  const NumberAt order = lookup.required({"order"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return WorkBegin{.kind = WorkKind::Kswapd,
                     .node = static_cast<std::int32_t>(node.load(raw.data())),
                     .order = static_cast<std::int32_t>(order.load(raw.data()))};
  });
}

Result<Decoder> bind_kswapd_sleep(const EventFormat& format) {
  FieldLookup lookup(format);
  (void)lookup.required({"nid"});
  return reading(
      lookup, [](std::span<const std::byte> /*raw*/) { return WorkEnd{.kind = WorkKind::Kswapd}; });
}

Result<Decoder> bind_kswapd_request(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt node = lookup.required({"nid"});
  const NumberAt order = lookup.required({"order"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return KswapdRequest{.node = static_cast<std::int32_t>(node.load(raw.data())),
                         .order = static_cast<std::int32_t>(order.load(raw.data()))};
  });
}

// nr_activate was split into anonymous and file pages in 5.4; it does not exist before 4.14.
Result<Decoder> bind_shrink_inactive(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt scanned = lookup.required({"nr_scanned"});
  const NumberAt reclaimed = lookup.required({"nr_reclaimed"});
  const std::array activated = {lookup.optional("nr_activate"),
                                lookup.optional("nr_activate0"),
                                lookup.optional("nr_activate1")};
  return reading(lookup, [=](std::span<const std::byte> raw) {
    LruShrink shrink{.scanned = scanned.load(raw.data()), .reclaimed = reclaimed.load(raw.data())};
    for (const std::optional<NumberAt>& part : activated) {
      shrink.activated += load_or(part, raw, std::uint64_t{0});
    }
    return shrink;
  });
}

// Pages of the active list are looked at, but not for reclaim: nr_taken is no part of what
// /proc/vmstat's pgscan counts.
Result<Decoder> bind_shrink_active(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt activated = lookup.required({"nr_active"});
  const NumberAt deactivated = lookup.required({"nr_deactivated"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return LruShrink{.pass = LruPass::Active,
                     .activated = activated.load(raw.data()),
                     .deactivated = deactivated.load(raw.data())};
  });
}

Result<Decoder> bind_isolate(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt scanned = lookup.required({"nr_scanned"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return LruShrink{.pass = LruPass::Isolate, .scanned = scanned.load(raw.data())};
  });
}

// RHEL 6 says `file`; all others flags, of which RECLAIM_WB_FILE has been 2 since 2.6.36
// (include/trace/events/vmscan.h).
Result<Decoder> bind_write(const EventFormat& format) {
  constexpr std::uint64_t kFileFlag = 2;
  FieldLookup lookup(format);
  const NumberAt page = lookup.required({"pfn", "page"});
  const bool has_flags = lookup.has("reclaim_flags");
  const NumberAt flags = lookup.required({"reclaim_flags", "file"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    const std::uint64_t bits = flags.load(raw.data());
    return ReclaimWrite{.page = page.load(raw.data()),
                        .of_file = has_flags ? (bits & kFileFlag) != 0 : bits != 0};
  });
}

Result<Decoder> bind_throttled(const EventFormat& format) {
  constexpr std::uint64_t kNsPerUs = 1000;
  FieldLookup lookup(format);
  const NumberAt delayed_us = lookup.required({"usec_delayed"});
  const NumberAt reason = lookup.required({"reason"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    const auto us = static_cast<std::int32_t>(delayed_us.load(raw.data()));
    return ReclaimThrottle{.delayed_ns = static_cast<std::uint64_t>(std::max(us, 0)) * kNsPerUs,
                           .reason = static_cast<std::uint32_t>(reason.load(raw.data()))};
  });
}

constexpr auto kTracepoints = std::to_array<Tracepoint>({
    {.name = "vmscan:mm_vmscan_direct_reclaim_begin",
     .bind = &bind_begin<WorkKind::DirectReclaim>,
     .role = EventRole::Begin},
    {.name = "vmscan:mm_vmscan_direct_reclaim_end",
     .bind = &bind_end<WorkKind::DirectReclaim>,
     .role = EventRole::End,
     .is_of_task = true},
    {.name = "vmscan:mm_vmscan_memcg_reclaim_begin",
     .bind = &bind_begin<WorkKind::MemcgReclaim>,
     .role = EventRole::Begin,
     .option = "CONFIG_MEMCG",
     .when_missing = "cgroup reclaim is not seen"},
    {.name = "vmscan:mm_vmscan_memcg_reclaim_end",
     .bind = &bind_end<WorkKind::MemcgReclaim>,
     .role = EventRole::End,
     .option = "CONFIG_MEMCG",
     .is_of_task = true},
    {.name = "vmscan:mm_vmscan_memcg_softlimit_reclaim_begin",
     .bind = &bind_begin<WorkKind::SoftLimitReclaim>,
     .role = EventRole::Begin,
     .option = "CONFIG_MEMCG"},
    {.name = "vmscan:mm_vmscan_memcg_softlimit_reclaim_end",
     .bind = &bind_end<WorkKind::SoftLimitReclaim>,
     .role = EventRole::End,
     .option = "CONFIG_MEMCG"},
    {.name = "vmscan:mm_vmscan_node_reclaim_begin",
     .bind = &bind_begin<WorkKind::NodeReclaim>,
     .role = EventRole::Begin,
     .option = "CONFIG_NUMA",
     .when_missing = "reclaim of a single node is not seen"},
    {.name = "vmscan:mm_vmscan_node_reclaim_end",
     .bind = &bind_end<WorkKind::NodeReclaim>,
     .role = EventRole::End,
     .option = "CONFIG_NUMA"},
    {.name = "vmscan:mm_shrink_slab_start",
     .bind = &bind_shrink_begin,
     .role = EventRole::Begin,
     .when_missing = "shrinking of slab caches is not seen"},
    {.name = "vmscan:mm_shrink_slab_end",
     .bind = &bind_shrink_end,
     .role = EventRole::End,
     .optional_field = {"nid", "how many objects a shrinker freed is not known"}},
    {.name = "vmscan:mm_vmscan_kswapd_wake", .bind = &bind_kswapd_wake, .role = EventRole::Begin},
    {.name = "vmscan:mm_vmscan_kswapd_sleep", .bind = &bind_kswapd_sleep, .role = EventRole::End},
    {"vmscan:mm_vmscan_wakeup_kswapd", &bind_kswapd_request},
    {.name = "vmscan:mm_vmscan_lru_shrink_inactive",
     .bind = &bind_shrink_inactive,
     .when_missing = "how many pages a pass reclaimed is not known"},
    {"vmscan:mm_vmscan_reclaim_pages", &bind_shrink_inactive},
    {"vmscan:mm_vmscan_lru_shrink_active", &bind_shrink_active},
    {"vmscan:mm_vmscan_lru_isolate", &bind_isolate},
    {"vmscan:mm_vmscan_write_folio", &bind_write},
    {.name = "vmscan:mm_vmscan_writepage",
     .bind = &bind_write,
     .newer_name = "vmscan:mm_vmscan_write_folio"},
    {.name = "vmscan:mm_vmscan_throttled",
     .bind = &bind_throttled,
     .when_missing = "how long reclaiming threads had to wait is not known"},
    {.name = "kmem:mm_vmscan_direct_reclaim_begin",
     .bind = &bind_begin<WorkKind::DirectReclaim>,
     .role = EventRole::Begin,
     .newer_name = "vmscan:mm_vmscan_direct_reclaim_begin"},
    {.name = "kmem:mm_vmscan_direct_reclaim_end",
     .bind = &bind_end<WorkKind::DirectReclaim>,
     .role = EventRole::End,
     .newer_name = "vmscan:mm_vmscan_direct_reclaim_end",
     .is_of_task = true},
    {.name = "kmem:mm_vmscan_kswapd_wake",
     .bind = &bind_kswapd_wake,
     .role = EventRole::Begin,
     .newer_name = "vmscan:mm_vmscan_kswapd_wake"},
    {.name = "kmem:mm_vmscan_kswapd_sleep",
     .bind = &bind_kswapd_sleep,
     .role = EventRole::End,
     .newer_name = "vmscan:mm_vmscan_kswapd_sleep"},
    {.name = "kmem:mm_vmscan_wakeup_kswapd",
     .bind = &bind_kswapd_request,
     .newer_name = "vmscan:mm_vmscan_wakeup_kswapd"},
    {.name = "kmem:mm_vmscan_lru_isolate",
     .bind = &bind_isolate,
     .newer_name = "vmscan:mm_vmscan_lru_isolate"},
    {.name = "kmem:mm_vmscan_writepage",
     .bind = &bind_write,
     .newer_name = "vmscan:mm_vmscan_write_folio"},
});

}  // namespace

std::span<const Tracepoint> reclaim_tracepoints() {
  return kTracepoints;
}

}  // namespace memtrace
