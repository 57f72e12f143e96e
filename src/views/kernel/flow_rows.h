// Allocations and frees by row, what of them is live, and the most that was: what slab and pages
// count alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "state/heap/block_table.h"
#include "views/kernel/alloc_flow.h"
#include "views/kernel/gfp_names.h"
#include "views/kernel/live_maxima.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/show_option.h"

namespace memtrace {

struct FlowOptions {
  std::vector<FlowFigure> figures;
  bool summary = false;
  bool short_gfp = false;

  // Error: Usage, an unknown column.
  static Result<FlowOptions> of(const ViewOptions& options,
                                Result<std::vector<FlowFigure>> figures);
};

class FlowRows {
 public:
  FlowRows(const KeySet& keys, FlowOptions flow, const ViewOptions& options);

  // The row of an allocation, to count one that failed.
  FlowCost& row(const Event& event);

  void allocate(const Event& event, std::uint64_t bytes, std::uint64_t bytes_req);

  // False if it is not known which row allocated the block.
  bool release(const Event& event);

  // Adds what the world has live, and the maxima: once for each report.
  void finish(const BlockTable& live, const World& world);

  FlowCost total() const { return rows_.total(); }

  const FlowOptions& options() const { return flow_; }

  const CpuNodes& nodes() const { return nodes_; }

  std::optional<std::size_t> key_index(std::string_view key) const {
    return rows_.keys().index_of(key);
  }

  FlowContext context(const World& world, View::Span span) const;

  // The table of rows, with the legend of short GFP names if it is asked for. The rows are gone
  // then. Context: the view's own, as keys may look at more than the figures do.
  template <typename Context>
  void add_table(Report& report, const Context& context) {
    Table& table = report.tables.emplace_back(std::move(rows_).take_table(flow_.figures, context));
    sort_by(table, "bytes");
    row_sizes_.move_into(table, rows_.keys(), context);
    if (flow_.short_gfp) {
      make_rows(report.tables.front());
      shorten_gfp_names(report);
    }
  }

  // Why figures are blank or not exact. `shows_nodes`: other tables have figures about nodes, too.
  std::vector<std::string> notes(bool shows_nodes) const;

  void begin_interval();

 private:
  GroupBy<FlowCost> rows_;
  AskedHistograms row_sizes_;
  std::optional<MaximaByRow> maxima_;
  FlowOptions flow_;
  TaskFilter tasks_;
  std::uint64_t page_size_bytes_;
  CpuNodes nodes_;
  FieldNames gfp_flags_ = gfp_flag_names();
  bool frees_seen_ = false;
  bool sampled_ = false;
};

}  // namespace memtrace
