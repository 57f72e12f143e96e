// What `memtrace top` is to show: all that keys change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/terminal/frame.h"
#include "cli/top/pane.h"
#include "cli/top/pane_table.h"
#include "report/name_pattern.h"

namespace memtrace {

// Of one pane, kept while another is shown.
struct PaneState {
  std::size_t look = 0;
  std::string rates_sort{};  // "": the look's own
  std::string live_sort{};
  std::size_t selected = 0;  // of all rows
  std::size_t first_row = 0;
};

struct RowFilter {
  std::string text{};
  std::optional<NamePattern> pattern{};
  std::optional<std::string> edited{};  // while the user types it
};

// What is shown in place of the tables.
struct ScreenCover {
  std::string title{};
  std::vector<std::string> lines{};
  std::size_t first = 0;
};

struct TopState {
  std::string target{};    // "the whole machine"
  std::string interval{};  // "1.00 s"
  std::vector<PaneState> panes = std::vector<PaneState>(kPanesWithoutHeap);
  std::size_t pane = 0;
  bool live = false;  // what is live in place of rates
  bool paused = false;
  RowFilter filter{};
  std::optional<ScreenCover> cover{};
  bool wants_detail = false;  // of the selected row, which the next frame looks up
  bool wants_redraw = false;  // of the whole screen
  std::string message{};      // in place of the help line, until the next key

  // Of the last frame.
  std::size_t page = 1;       // rows of a pane that fit
  std::size_t row_count = 0;  // of the pane that keys move in
  std::vector<ClickArea> areas{};

  const PaneLook& look_of(std::size_t number) const {
    return all_panes()[number].looks[panes[number].look];
  }

  PaneState& current() { return panes[pane]; }

  bool has_heap() const { return panes.size() == all_panes().size(); }
};

// With the pane's own column to sort by where the user chose none.
PaneView view_of(const TopState& state, std::size_t pane);

// Sorts the pane that is shown. Error: Usage, it shows no such column.
Result<> sort_by(TopState& state, const std::string& column);

}  // namespace memtrace
