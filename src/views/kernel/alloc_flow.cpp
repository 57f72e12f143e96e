#include "views/kernel/alloc_flow.h"

#include <utility>

namespace memtrace {

Summary::Summary(std::string title) {
  table_.title = std::move(title);
  table_.columns = {{"what", Unit::Text},
                    {"count", Unit::Count},
                    {"bytes", Unit::Bytes},
                    {"percent", Unit::Percent}};
  table_.key_count = 1;
  table_.fixed = true;
}

void Summary::add(std::string what, Cell count, Cell bytes, Cell percent) {
  table_.rows.push_back({std::move(what), std::move(count), std::move(bytes), std::move(percent)});
}

Table slab_summary(const SlabTotals& totals) {
  const FlowCost& cost = totals.cost;
  const std::uint64_t waste = cost.waste();
  const auto if_freed = [&totals](Cell cell) { return when(totals.frees_seen, std::move(cell)); };
  const auto if_nodes = [&totals](Cell cell) { return when(totals.nodes_known, std::move(cell)); };
  const auto rest = [](std::uint64_t given, std::uint64_t taken) {
    return Cell(static_cast<std::int64_t>(given) - static_cast<std::int64_t>(taken));
  };
  Summary summary("summary");
  summary.add("requested", cost.allocs, cost.bytes_req);
  summary.add("allocated", cost.allocs, cost.bytes);
  summary.add("wasted by rounding up", {}, waste, percent_cell(waste, cost.bytes));
  summary.add("freed of these", if_freed(cost.frees), if_freed(cost.freed_bytes));
  summary.add("not freed",
              if_freed(rest(cost.allocs, cost.frees)),
              if_freed(rest(cost.bytes, cost.freed_bytes)));
  summary.add("freed on another CPU",
              if_freed(cost.cross_cpu),
              {},
              if_freed(percent_cell(cost.cross_cpu, cost.frees)));
  summary.add("freed on another node",
              if_nodes(if_freed(cost.cross_node)),
              {},
              if_nodes(if_freed(percent_cell(cost.cross_node, cost.frees))));
  summary.add("asked of another node",
              if_nodes(totals.remote_allocs),
              {},
              if_nodes(percent_cell(totals.remote_allocs, cost.allocs)));
  return summary.table();
}

// perf kmem counts a failed request among the allocations, too: here it is not one.
Table pages_summary(const FlowCost& cost, const PageTotals& unmatched, bool frees_seen) {
  const auto if_freed = [frees_seen](Cell cell) { return when(frees_seen, std::move(cell)); };
  const auto rest = [](std::uint64_t given, std::uint64_t taken) {
    return Cell(static_cast<std::int64_t>(given) - static_cast<std::int64_t>(taken));
  };
  Summary summary("summary");
  summary.add("allocated", cost.allocs, cost.bytes);
  summary.add("freed",
              if_freed(cost.frees + unmatched.frees),
              if_freed(cost.freed_bytes + unmatched.freed_bytes));
  summary.add("allocated and freed",
              if_freed(cost.frees),
              if_freed(cost.freed_bytes),
              if_freed(percent_cell(cost.freed_bytes, cost.bytes)));
  summary.add("allocated only",
              if_freed(rest(cost.allocs, cost.frees)),
              if_freed(rest(cost.bytes, cost.freed_bytes)));
  summary.add("freed only", if_freed(unmatched.frees), if_freed(unmatched.freed_bytes));
  summary.add("failed",
              cost.failures,
              unmatched.failed_bytes,
              percent_cell(cost.failures, cost.failures + cost.allocs));
  summary.add("freed on another CPU",
              if_freed(cost.cross_cpu),
              {},
              if_freed(percent_cell(cost.cross_cpu, cost.frees)));
  return summary.table();
}

}  // namespace memtrace
