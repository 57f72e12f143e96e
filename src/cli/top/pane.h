// What the panes show: tables of views that one session runs side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace memtrace {

// A view of the session, and the keys it groups by.
struct PaneQuery {
  std::string_view view;
  std::span<const std::string_view> by;
};

// All of the session's views, in its order; the heap needs probes.
std::span<const PaneQuery> pane_queries(bool with_heap);

struct PaneColumn {
  std::string_view name;    // of the table's column
  std::string_view header;  // on the screen
  bool is_rate = false;     // a figure of the interval that is shown for each second
};

// One table of a pane: `b` goes through all that it has.
struct PaneLook {
  std::string_view title;
  std::size_t query = 0;      // of pane_queries()
  std::size_t table = 0;      // of the report
  bool of_processes = false;  // the table of all queries by process, joined
  std::span<const PaneColumn> rates;
  std::span<const PaneColumn> live = {};  // empty: the view does not know what is live
  std::string_view rates_sort;
  std::string_view live_sort = {};
};

struct Pane {
  std::string_view name;
  std::span<const PaneLook> looks;
};

// The last one is that of the heap.
std::span<const Pane> all_panes();

inline constexpr std::size_t kPanesWithoutHeap = 5;

// The queries that are joined by process.
inline constexpr std::size_t kKmallocByProcess = 0;
inline constexpr std::size_t kPagesByProcess = 1;
inline constexpr std::size_t kFaultsByProcess = 2;

}  // namespace memtrace
