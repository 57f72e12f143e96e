// Payloads of single events of reclaim; what has a begin and an end is in event_work.h.
#pragma once

#include <cstdint>

#include "tracepoints/event/event_work.h"

namespace memtrace {

// The reclaim of its thread that an event is part of, filled in by the world; WorkKind::Other when
// it is of none that is known.
struct PartOfReclaim {
  WorkKind kind = WorkKind::Other;
};

// vmscan:mm_vmscan_lru_shrink_inactive, _active and mm_vmscan_reclaim_pages; lru_isolate where
// there is none of these (2.6.32), which knows only what was scanned.
enum class LruPass : std::uint8_t { Inactive, Active, Isolate };

struct LruShrink {
  LruPass pass = LruPass::Inactive;
  std::uint64_t scanned = 0;
  std::uint64_t reclaimed = 0;
  std::uint64_t activated = 0;
  std::uint64_t deactivated = 0;
  PartOfReclaim part = {};
};

// vmscan:mm_vmscan_write_folio, mm_vmscan_writepage: reclaim writes a folio to swap or to its file.
// Before Linux 4.14 each is a page.
struct ReclaimWrite {
  std::uint64_t page = 0;   // of the folio, the first
  std::uint64_t pages = 1;  // filled in by the world, 1 when it is not known; see FolioOrders
  bool of_file = false;
  PartOfReclaim part = {};
};

// vmscan:mm_vmscan_wakeup_kswapd: a thread that allocates asks for kswapd.
struct KswapdRequest {
  std::int32_t node = -1;
  std::int32_t order = -1;
};

// vmscan:mm_vmscan_throttled: a thread that reclaims had to wait.
struct ReclaimThrottle {
  std::uint64_t delayed_ns = 0;
  std::uint32_t reason = 0;
  PartOfReclaim part = {};
};

}  // namespace memtrace
