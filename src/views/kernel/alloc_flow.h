// What slab and pages share: figures of allocations and frees, and perf kmem's summary of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.h"
#include "views/kernel/flow_cost.h"
#include "views/kit/cells.h"
#include "views/kit/group_by.h"
#include "views/view.h"

namespace memtrace {

struct FlowContext : CellContext {
  bool frees_seen = false;   // without a single one, what is live is not known
  bool nodes_known = false;  // which CPU is of which NUMA node

  bool cross_nodes_known() const { return frees_seen && nodes_known; }
};

using FlowFigure = Figure<FlowCost, FlowContext>;

// The NUMA node that a CPU is of.
class CpuNodes {
 public:
  explicit CpuNodes(std::vector<std::uint32_t> nodes) : nodes_(std::move(nodes)) {}

  bool known() const { return !nodes_.empty(); }

  bool differ(std::uint32_t one_cpu, std::uint32_t other_cpu) const {
    return one_cpu < nodes_.size() && other_cpu < nodes_.size() &&
           nodes_[one_cpu] != nodes_[other_cpu];
  }

  // Whether that node is another than the CPU's; false when either is not known.
  bool is_remote(std::uint32_t cpu, std::int32_t node) const {
    return cpu < nodes_.size() && node >= 0 && static_cast<std::uint32_t>(node) != nodes_[cpu];
  }

 private:
  std::vector<std::uint32_t> nodes_;
};

// A table of a few figures that are counts and bytes: {what, count, bytes, percent}.
class Summary {
 public:
  explicit Summary(std::string title);

  void add(std::string what, Cell count, Cell bytes, Cell percent = {});

  const Table& table() const { return table_; }

 private:
  Table table_;
};

// All that slab's rows add up to.
struct SlabTotals {
  FlowCost cost;
  std::uint64_t remote_allocs = 0;  // of memory that was asked for on another node
  bool frees_seen = false;
  bool nodes_known = false;
};

Table slab_summary(const SlabTotals& totals);

// Totals of pages, beside what the rows add up to.
struct PageTotals {
  std::uint64_t frees = 0;  // of pages that were allocated before
  std::uint64_t freed_bytes = 0;
  std::uint64_t failed_bytes = 0;
};

Table pages_summary(const FlowCost& cost, const PageTotals& unmatched, bool frees_seen);

}  // namespace memtrace
