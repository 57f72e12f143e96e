// Compaction of memory (include/trace/events/compaction.h). The pair of events for its duration
// came in 3.16; other events of the same thread say what it was for.
#include <array>

#include "tracepoints/decode/reading.h"

namespace memtrace {
namespace {

Result<Decoder> bind_compaction_begin(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt zone_start = lookup.required({"zone_start"});
  const std::optional<NumberAt> sync = lookup.optional("sync");
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return WorkBegin{.kind = WorkKind::Compaction,
                     .object = zone_start.load(raw.data()),
                     .sync = load_or(sync, raw, std::int32_t{-1})};
  });
}

// mm_compaction_end of 3.16 has the status alone.
Result<Decoder> bind_compaction_end(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt status = lookup.required({"status"});
  const std::optional<NumberAt> zone_start = lookup.optional("zone_start");
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return WorkEnd{.kind = WorkKind::Compaction,
                   .object = load_or(zone_start, raw, std::uint64_t{0}),
                   .status = static_cast<std::int32_t>(status.load(raw.data()))};
  });
}

Result<Decoder> bind_goal(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt node = lookup.required({"nid"});
  const NumberAt zone = lookup.required({"idx"});
  const NumberAt order = lookup.required({"order"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return CompactionGoal{.node = static_cast<std::int32_t>(node.load(raw.data())),
                          .zone = static_cast<std::int32_t>(zone.load(raw.data())),
                          .order = static_cast<std::int32_t>(order.load(raw.data()))};
  });
}

Result<Decoder> bind_try(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt order = lookup.required({"order"});
  const NumberAt gfp = lookup.required({"gfp_mask"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return CompactionTry{.order = static_cast<std::int32_t>(order.load(raw.data())),
                         .gfp = gfp.load(raw.data())};
  });
}

Result<Decoder> bind_moved(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt migrated = lookup.required({"nr_migrated"});
  const NumberAt put_back = lookup.required({"nr_failed"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return CompactionMoved{.migrated = migrated.load(raw.data()),
                           .put_back = put_back.load(raw.data())};
  });
}

}  // namespace

std::span<const Tracepoint> compaction_tracepoints() {
  static constexpr std::array<Tracepoint, 6> kTracepoints = {
      {{.name = "compaction:mm_compaction_begin",
        .bind = &bind_compaction_begin,
        .role = EventRole::Begin,
        .when_missing = "how long compaction took and how it ended is not known"},
       {"compaction:mm_compaction_end", &bind_compaction_end, EventRole::End},
       {"compaction:mm_compaction_suitable", &bind_goal, EventRole::Begin},
       {"compaction:mm_compaction_finished", &bind_goal, EventRole::Begin},
       {"compaction:mm_compaction_try_to_compact_pages", &bind_try, EventRole::Begin},
       {"compaction:mm_compaction_migratepages", &bind_moved, EventRole::Begin}}};
  return kTracepoints;
}

}  // namespace memtrace
