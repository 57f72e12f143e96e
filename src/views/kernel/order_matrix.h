// Allocations of pages by order and migrate type, as perf kmem and /proc/pagetypeinfo show them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "report/report.h"
#include "tracepoints/event/event.h"

namespace memtrace {

// Orders are rows, migrate types columns. What lies outside is no order or type of any kernel, so
// it is not worth a row.
class OrderMatrix {
 public:
  static constexpr std::size_t kOrders = 20;
  static constexpr std::size_t kTypes = 16;

  void add(const PageAlloc& alloc, std::uint64_t weight) {
    const auto type = static_cast<std::size_t>(alloc.migratetype);  // negative: out of range
    if (alloc.order < kOrders && type < kTypes) {
      counts_[alloc.order][type] += weight;
      orders_ = std::max<std::size_t>(orders_, alloc.order + 1U);
      types_ = std::max(types_, type + 1);
    }
  }

  Table table(std::span<const std::string> type_names) const {
    Table table;
    table.title = "allocations by order and migrate type";
    table.fixed = true;
    table.key_count = 1;
    table.columns.push_back({"order", Unit::Number});
    for (std::size_t type = 0; type < types_; ++type) {
      const bool named = type < type_names.size();
      table.columns.push_back({named ? type_names[type] : "type_" + std::to_string(type)});
    }
    for (std::size_t order = 0; order < orders_; ++order) {
      std::vector<Cell>& row = table.rows.emplace_back();
      row.emplace_back(std::uint64_t{order});
      row.insert(row.end(),
                 counts_[order].begin(),
                 std::next(counts_[order].begin(), static_cast<std::ptrdiff_t>(types_)));
    }
    return table;
  }

 private:
  std::array<std::array<std::uint64_t, kTypes>, kOrders> counts_{};
  std::size_t orders_ = 0;
  std::size_t types_ = 0;
};

}  // namespace memtrace
