#include "views/reclaim/reclaim_kinds.h"

#include <algorithm>
#include <iterator>

#include "views/kit/cells.h"
#include "views/reclaim/latency.h"
#include "views/truth/vmstat_check.h"

namespace memtrace {
namespace {

// "mm_vmscan_write_folio" of any group.
bool has_event(const std::deque<EventType>& types, std::string_view name) {
  return std::ranges::any_of(types, [name](const EventType& type) {
    const std::string_view full = type.name;
    return full.substr(full.find(':') + 1) == name;
  });
}

std::string title_of(WorkKind kind) {
  if (kind == WorkKind::SlabShrink) {
    return "latency of slab shrinking";
  }
  if (kind == WorkKind::Kswapd) {
    return "kswapd's time awake";
  }
  return "latency of " + std::string(name_of(kind)) + " reclaim";
}

}  // namespace

bool ReclaimEvents::has(WorkKind kind) const {
  switch (kind) {
    case WorkKind::DirectReclaim:
      return direct;
    case WorkKind::MemcgReclaim:
      return memcg;
    case WorkKind::SoftLimitReclaim:
      return soft_limit;
    case WorkKind::NodeReclaim:
      return node;
    case WorkKind::SlabShrink:
      return slab;
    case WorkKind::Kswapd:
      return kswapd;
    default:
      return true;
  }
}

ReclaimEvents reclaim_events(const std::deque<EventType>& types) {
  const auto has = [&](std::string_view name) { return has_event(types, name); };
  const bool passes = has("mm_vmscan_lru_shrink_inactive");
  return {.direct = has("mm_vmscan_direct_reclaim_end"),
          .memcg = has("mm_vmscan_memcg_reclaim_end"),
          .soft_limit = has("mm_vmscan_memcg_softlimit_reclaim_end"),
          .node = has("mm_vmscan_node_reclaim_end"),
          .slab = has("mm_shrink_slab_end"),
          .kswapd = has("mm_vmscan_kswapd_wake"),
          .kswapd_requests = has("mm_vmscan_wakeup_kswapd"),
          .scanned = passes || has("mm_vmscan_lru_isolate"),
          .reclaimed = passes,
          .written = has("mm_vmscan_write_folio") || has("mm_vmscan_writepage"),
          .throttled = has("mm_vmscan_throttled")};
}

bool is_reclaim_event(const EventType& type) {
  const std::string_view name = type.name;
  return name.starts_with("vmscan:mm_") || name.starts_with("kmem:mm_vmscan_");
}

void ReclaimKinds::on(const Event& event) {
  if (const auto* work = std::get_if<Work>(&event.payload)) {
    on_work(event, *work);
  } else if (const auto* begin = std::get_if<WorkBegin>(&event.payload)) {
    at(WorkKind::Kswapd).count += begin->kind == WorkKind::Kswapd ? event.weight : 0;
  } else if (const auto* shrink = std::get_if<LruShrink>(&event.payload)) {
    on_shrink(*shrink, event.weight);
  } else if (const auto* write = std::get_if<ReclaimWrite>(&event.payload)) {
    at(write->part.kind).written += write->pages * event.weight;
  } else if (const auto* throttle = std::get_if<ReclaimThrottle>(&event.payload)) {
    at(throttle->part.kind).throttled += event.weight;
    at(throttle->part.kind).throttled_ns += throttle->delayed_ns * event.weight;
  } else if (std::holds_alternative<KswapdRequest>(event.payload)) {
    kswapd_requests_ += event.weight;
  }
}

void ReclaimKinds::on_work(const Event& event, const Work& work) {
  Kind& kind = at(work.end.kind);
  const bool is_kswapd = work.end.kind == WorkKind::Kswapd;
  kind.count += is_kswapd ? 0 : event.weight;  // a kswapd is counted when it wakes
  kind.pages += work.end.pages * event.weight;
  if (!work.has_begin) {
    return;
  }
  kind.durations.add(work.duration_ns, event.weight);
  kind.histogram.add(work.duration_ns, event.weight);
  if (is_kswapd) {
    const std::uint64_t since_ns = std::max(work.begun_ns, told_until_ns_);
    kind.time_ns += event.time_ns - std::min(event.time_ns, since_ns);
  } else if (!work.is_within(work.end.kind)) {
    kind.time_ns += work.duration_ns * event.weight;
  }
}

void ReclaimKinds::on_shrink(const LruShrink& shrink, std::uint64_t weight) {
  Kind& kind = at(shrink.part.kind);
  kind.scanned += shrink.scanned * weight;
  kind.reclaimed += shrink.reclaimed * weight;
  kind.activated += shrink.activated * weight;
}

void ReclaimKinds::close(const World& world, View::Span span) {
  const auto untold_ns = [&](const KernelWork::Open& work) {
    const std::uint64_t since_ns = std::max(work.begun_ns, told_until_ns_);
    return span.end_ns > since_ns ? span.end_ns - since_ns : 0;
  };
  for (const auto& [tid, works] : world.kernel_work().open()) {
    for (const KernelWork::Open& work : works) {
      at(WorkKind::Kswapd).time_ns += work.begin.kind == WorkKind::Kswapd ? untold_ns(work) : 0;
    }
  }
  told_until_ns_ = span.end_ns;
}

std::uint64_t ReclaimKinds::sum(std::uint64_t Kind::*figure) const {
  std::uint64_t total = 0;
  for (const Kind& kind : kinds_) {
    total += kind.*figure;
  }
  return total;
}

std::uint64_t ReclaimKinds::sum_of_reclaim(std::uint64_t Kind::*figure) const {
  return sum(figure) - at(WorkKind::Other).*figure;
}

// pgscan_anon and the like (Linux 5.9) are of all reclaim; pgscan_kswapd and pgscan_direct are not
// of that of cgroups.
void ReclaimKinds::check_sums(const ReclaimEvents& events,
                              const World& world,
                              Report& report) const {
  VmstatCheck check(world);
  if (events.scanned) {
    check.add({.name = "scanned",
               .counted = sum_of_reclaim(&Kind::scanned),
               .counters = {"pgscan_anon", "pgscan_file"},
               .hint = "a list of which all pages stay where they are has no event"});
  }
  if (events.reclaimed) {
    check.add({.name = "reclaimed",
               .counted = sum_of_reclaim(&Kind::reclaimed),
               .counters = {"pgsteal_anon", "pgsteal_file"},
               .hint = "reclaim that began before the recording has no kind"});
  }
  if (events.written) {
    check.add({.name = "written",
               .counted = sum(&Kind::written),
               .counters = {"nr_vmscan_write"},
               .hint = "a large folio counts as one page unless the recording has its allocation "
                       "(record --for pages or swapin, too)"});
  }
  check.add_to(report);
}

std::vector<Total> ReclaimKinds::totals(const ReclaimEvents& events) const {
  std::vector<Total> totals;
  const auto add = [&](bool known, std::string name, Unit unit, std::uint64_t value) {
    if (known) {
      totals.push_back({std::move(name), unit, value});
    }
  };
  const auto time_of = [this](WorkKind kind) { return at(kind).time_ns; };
  add(events.slab, "slab_ns", Unit::Nanoseconds, time_of(WorkKind::SlabShrink));
  add(events.direct, "direct_ns", Unit::Nanoseconds, time_of(WorkKind::DirectReclaim));
  add(events.memcg, "memcg_ns", Unit::Nanoseconds, time_of(WorkKind::MemcgReclaim));
  add(events.soft_limit, "softlimit_ns", Unit::Nanoseconds, time_of(WorkKind::SoftLimitReclaim));
  add(events.node, "node_ns", Unit::Nanoseconds, time_of(WorkKind::NodeReclaim));
  add(events.kswapd_requests, "kswapd_requests", Unit::Count, kswapd_requests_);
  add(events.kswapd, "kswapd_wakes", Unit::Count, at(WorkKind::Kswapd).count);
  add(events.kswapd, "kswapd_awake_ns", Unit::Nanoseconds, time_of(WorkKind::Kswapd));
  add(events.scanned, "scanned", Unit::Count, sum(&Kind::scanned));
  add(events.reclaimed, "reclaimed", Unit::Count, sum(&Kind::reclaimed));
  add(events.written, "written", Unit::Count, sum(&Kind::written));
  add(events.throttled, "throttled", Unit::Count, sum(&Kind::throttled));
  add(events.throttled, "throttled_ns", Unit::Nanoseconds, sum(&Kind::throttled_ns));
  return totals;
}

Table ReclaimKinds::table(const ReclaimEvents& events) const {
  Table table;
  table.title = "by kind of reclaim";
  table.fixed = true;
  table.key_count = 1;
  table.columns = {{"kind", Unit::Text}, {"count"}, {"time_ns", Unit::Nanoseconds}};
  std::ranges::move(latency_columns(), std::back_inserter(table.columns));
  for (const char* name : {"scanned", "reclaimed", "activated", "written"}) {
    table.columns.push_back({name});
  }
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const auto name = static_cast<WorkKind>(i);
    const Kind& kind = kinds_[i];
    if (kind.count == 0 && kind.time_ns == 0 && kind.scanned == 0 && kind.written == 0) {
      continue;
    }
    const bool is_work = name != WorkKind::Other;
    const bool has_pages = name != WorkKind::SlabShrink;
    std::vector<Cell>& row = table.rows.emplace_back();
    row = {std::string(name_of(name)), when(is_work, kind.count), when(is_work, kind.time_ns)};
    std::ranges::move(latency_cells(kind.durations), std::back_inserter(row));
    row.push_back(when(has_pages && events.scanned, kind.scanned));
    row.push_back(when(has_pages && events.reclaimed, kind.reclaimed));
    row.push_back(when(has_pages && events.reclaimed, kind.activated));
    row.push_back(when(has_pages && events.written, kind.written));
  }
  return table;
}

std::vector<Histogram> ReclaimKinds::histograms() const {
  std::vector<Histogram> histograms;
  for (std::size_t i = 0; i < kWorkKinds; ++i) {
    if (kinds_[i].durations.count() != 0) {
      histograms.push_back(
          kinds_[i].histogram.histogram(title_of(static_cast<WorkKind>(i)), Unit::Nanoseconds));
    }
  }
  return histograms;
}

void ReclaimKinds::clear() {
  kinds_ = {};
  kswapd_requests_ = 0;
}

}  // namespace memtrace
