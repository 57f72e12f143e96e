// Payloads of work of the kernel on memory that has a begin and an end in the same thread: reclaim,
// slab shrinking, kswapd's waking hours, compaction, migration of pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memtrace {

enum class WorkKind : std::uint8_t {
  DirectReclaim,
  MemcgReclaim,
  SoftLimitReclaim,
  NodeReclaim,
  SlabShrink,
  Kswapd,
  Compaction,
  Migration,
  Other,  // none of these
};

inline constexpr std::size_t kWorkKinds = 8;

// Taking pages from those who have them; kswapd does it while it is awake.
constexpr bool is_reclaim(WorkKind kind) {
  return kind <= WorkKind::NodeReclaim || kind == WorkKind::Kswapd;
}

// What the begin reports; -1 and 0 for what this kind of work or this kernel does not report.
struct WorkBegin {
  WorkKind kind = WorkKind::DirectReclaim;
  std::int32_t node = -1;
  std::int32_t zone = -1;
  std::int32_t order = -1;
  std::uint64_t gfp = 0;
  std::uint64_t object = 0;    // the shrinker, the zone's first page: the end has the same one
  std::uint64_t function = 0;  // of a shrinker, a kernel address
  std::int32_t sync = -1;      // compaction: 0 or 1
};

struct WorkEnd {
  WorkKind kind = WorkKind::DirectReclaim;
  std::uint64_t object = 0;
  std::uint64_t pages = 0;   // reclaimed or migrated; of a shrinker, objects freed
  bool has_pages = true;     // false: this kernel does not report them
  std::uint64_t failed = 0;  // migration: pages that stayed where they were
  std::int32_t status = -1;  // of compaction
  std::int32_t reason = -1;  // of migration
};

// Made of both, at the end. When the begin was not seen nothing is known but the end.
struct Work {
  WorkBegin begin;
  WorkEnd end;
  bool has_begin = false;
  std::uint64_t begun_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint8_t within = 0;  // kinds of work that this was a part of, a bit each
  // For a compaction: pages that it moved, those that it took and put back, and of these, those
  // that it tried to move (migrate:mm_migrate_pages).
  std::uint64_t migrated = 0;
  std::uint64_t put_back = 0;
  std::uint64_t failed = 0;

  bool is_within(WorkKind kind) const { return (within >> static_cast<unsigned>(kind) & 1U) != 0; }
};

}  // namespace memtrace
