// Reclaim of the whole machine by kind: times, pages, and what kswapd did. The part of the view
// vmscan that has no keys.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "state/world/world.h"
#include "views/kit/durations.h"
#include "views/kit/histogram.h"
#include "views/reclaim/work_keys.h"
#include "views/view.h"

namespace memtrace {

// The events that a recording has: a figure without its event is not 0 but unknown.
struct ReclaimEvents {
  bool direct = true;
  bool memcg = true;
  bool soft_limit = true;
  bool node = true;
  bool slab = true;
  bool kswapd = true;
  bool kswapd_requests = true;
  bool scanned = true;
  bool reclaimed = true;  // by lru_shrink_inactive; lru_isolate then adds nothing
  bool written = true;
  bool throttled = true;

  bool has(WorkKind kind) const;
};

ReclaimEvents reclaim_events(const std::deque<EventType>& types);

// Any event of the vmscan group. They were in the kmem group on 2.6.32.
bool is_reclaim_event(const EventType& type);

// Needs of a view of reclaim. Only direct reclaim can be seen on every kernel.
inline constexpr auto kReclaimNeeds = std::to_array<std::string_view>({
    "vmscan:mm_vmscan_direct_reclaim_begin|kmem:mm_vmscan_direct_reclaim_begin",
    "vmscan:mm_vmscan_direct_reclaim_end|kmem:mm_vmscan_direct_reclaim_end",
    "vmscan:mm_vmscan_memcg_reclaim_begin|",
    "vmscan:mm_vmscan_memcg_reclaim_end|",
    "vmscan:mm_vmscan_memcg_softlimit_reclaim_begin|",
    "vmscan:mm_vmscan_memcg_softlimit_reclaim_end|",
    "vmscan:mm_vmscan_node_reclaim_begin|",
    "vmscan:mm_vmscan_node_reclaim_end|",
    "vmscan:mm_shrink_slab_start|",
    "vmscan:mm_shrink_slab_end|",
    "vmscan:mm_vmscan_kswapd_wake|kmem:mm_vmscan_kswapd_wake|",
    "vmscan:mm_vmscan_kswapd_sleep|kmem:mm_vmscan_kswapd_sleep|",
    "vmscan:mm_vmscan_wakeup_kswapd|kmem:mm_vmscan_wakeup_kswapd|",
    "vmscan:mm_vmscan_lru_shrink_inactive|vmscan:mm_vmscan_lru_isolate|kmem:mm_vmscan_lru_isolate|",
    "vmscan:mm_vmscan_reclaim_pages|",
    "vmscan:mm_vmscan_lru_shrink_active|",
    "vmscan:mm_vmscan_write_folio|vmscan:mm_vmscan_writepage|kmem:mm_vmscan_writepage|",
    "vmscan:mm_vmscan_throttled|",
});

class ReclaimKinds {
 public:
  void on(const Event& event);
  // Adds what kswapd was awake since the last call, ended or not.
  void close(const World& world, View::Span span);

  std::vector<Total> totals(const ReclaimEvents& events) const;
  Table table(const ReclaimEvents& events) const;
  std::vector<Histogram> histograms() const;
  // Sums beside /proc/vmstat's.
  void check_sums(const ReclaimEvents& events, const World& world, Report& report) const;
  void clear();

 private:
  struct Kind {
    Durations durations;
    ValueHistogram histogram = ValueHistogram(0);
    std::uint64_t count = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t pages = 0;  // or objects of slab caches
    std::uint64_t scanned = 0;
    std::uint64_t reclaimed = 0;
    std::uint64_t activated = 0;
    std::uint64_t written = 0;
    std::uint64_t throttled = 0;
    std::uint64_t throttled_ns = 0;
  };

  void on_work(const Event& event, const Work& work);
  void on_shrink(const LruShrink& shrink, std::uint64_t weight);

  Kind& at(WorkKind kind) { return kinds_[static_cast<std::size_t>(kind)]; }

  const Kind& at(WorkKind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }

  std::uint64_t sum(std::uint64_t Kind::*figure) const;
  // Without what was no reclaim, such as MADV_PAGEOUT.
  std::uint64_t sum_of_reclaim(std::uint64_t Kind::*figure) const;

  std::array<Kind, kWorkKinds + 1> kinds_{};
  std::uint64_t kswapd_requests_ = 0;
  std::uint64_t told_until_ns_ = 0;
};

}  // namespace memtrace
