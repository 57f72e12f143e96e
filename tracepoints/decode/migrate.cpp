// Migration of pages (include/trace/events/migrate.h). The event of its begin came in 5.15: before,
// the duration of a migration is not known.
#include <array>
#include <optional>

#include "tracepoints/decode/reading.h"

namespace memtrace {
namespace {

Result<Decoder> bind_migration_begin(const EventFormat& format) {
  FieldLookup lookup(format);
  (void)lookup.required({"reason", "mode"});
  return reading(lookup, [](std::span<const std::byte> /*raw*/) {
    return WorkBegin{.kind = WorkKind::Migration};
  });
}

Result<Decoder> bind_migration_end(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt succeeded = lookup.required({"succeeded"});
  const NumberAt failed = lookup.required({"failed"});
  const std::optional<NumberAt> reason = lookup.optional("reason");
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return WorkEnd{.kind = WorkKind::Migration,
                   .pages = succeeded.load(raw.data()),
                   .failed = failed.load(raw.data()),
                   .reason = load_or(reason, raw, std::int32_t{-1})};
  });
}

}  // namespace

std::span<const Tracepoint> migrate_tracepoints() {
  static constexpr std::array<Tracepoint, 2> kTracepoints = {
      {{.name = "migrate:mm_migrate_pages_start",
        .bind = &bind_migration_begin,
        .role = EventRole::Begin,
        .when_missing = "how long migrations took is not known"},
       {"migrate:mm_migrate_pages", &bind_migration_end, EventRole::End}}};
  return kTracepoints;
}

// Counted, not decoded.
std::span<const Tracepoint> sched_tracepoints() {
  static constexpr std::array<Tracepoint, 1> kTracepoints = {
      {{.name = "sched:sched_move_numa", .option = "CONFIG_NUMA_BALANCING"}}};
  return kTracepoints;
}

}  // namespace memtrace
