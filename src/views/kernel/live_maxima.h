// The most that was live at one time, row by row: kept as the events come, because the sums at the
// end do not show it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "state/heap/live_block.h"
#include "views/kernel/flow_cost.h"
#include "views/kit/group_by.h"

namespace memtrace {

struct LiveMaxima {
  std::uint64_t bytes = 0;  // live now
  std::uint64_t req = 0;
  std::uint64_t max_bytes = 0;
  std::uint64_t max_req = 0;
  std::uint64_t max_waste = 0;

  void note() {
    max_bytes = std::max(max_bytes, bytes);
    max_req = std::max(max_req, req);
    max_waste = std::max(max_waste, waste_of(bytes, req));
  }
};

class MaximaByRow {
 public:
  explicit MaximaByRow(KeySet keys) : rows_(std::move(keys)) {}

  void allocate(const Event& event, std::uint64_t bytes, std::uint64_t bytes_req) {
    if (event.replaced != nullptr) {
      free(*event.replaced);
    }
    LiveMaxima& row = rows_.row(event);
    row.bytes += bytes;
    row.req += bytes_req;
    row.note();
  }

  void free(const LiveBlock& block) {
    LiveMaxima& row = rows_.row(block);
    row.bytes -= std::min(row.bytes, block.bytes);
    row.req -= std::min(row.req, block.bytes_req);
  }

  void add_to(GroupBy<FlowCost>& costs) {
    rows_.for_each_row([&costs](const KeyWords& words, const LiveMaxima& row) {
      FlowCost& cost = costs.row_at(words);
      cost.max_live_bytes = row.max_bytes;
      cost.max_live_req = row.max_req;
      cost.max_live_waste = row.max_waste;
    });
  }

  // What is live stays; the most of the next interval is at least that.
  void begin_interval() {
    GroupBy<LiveMaxima> next(rows_.keys());
    rows_.for_each_row([&next](const KeyWords& words, const LiveMaxima& row) {
      if (row.bytes != 0) {
        LiveMaxima& kept = next.row_at(words);
        kept.bytes = row.bytes;
        kept.req = row.req;
        kept.note();
      }
    });
    rows_ = std::move(next);
  }

 private:
  GroupBy<LiveMaxima> rows_;
};

}  // namespace memtrace
