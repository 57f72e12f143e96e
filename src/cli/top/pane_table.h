// A pane's table as lines: which rows and columns there is room for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/terminal/frame.h"
#include "cli/top/pane.h"
#include "report/arrange.h"
#include "report/namer.h"
#include "report/report.h"

namespace memtrace {

// What an interval has brought, one report for each of pane_queries().
struct TopSnapshot {
  std::vector<Report> reports;  // with all their rows, neither sorted nor named
  Table processes;
  std::string clock{};   // "14:03:59"
  double seconds = 1.0;  // of the interval
};

struct PaneView {
  const PaneLook* look = nullptr;
  bool live = false;
  std::string sort{};  // name of a table's column
  const NamePattern* only = nullptr;
  std::size_t first_row = 0;
};

// The rows from PaneView::first_row on, sorted and named.
struct PaneRows {
  Report report;              // with one table, and the names of its stacks
  std::size_t row_count = 0;  // of all
};

std::span<const PaneColumn> columns_of(const PaneView& view);

PaneRows take_rows(const TopSnapshot& snapshot,
                   const PaneView& view,
                   std::size_t most_rows,
                   Namer& namer);

// A shown column: its text for the header and for each row, and where it begins.
struct PaneColumnText {
  std::string name{};  // of the table's column
  std::string header{};
  std::vector<std::string> cells{};
  bool is_text = false;
  bool is_stack = false;
  std::size_t width = 0;
  std::size_t begin = 0;
};

// Those that fit into `width` columns of the screen, the first ones first.
std::vector<PaneColumnText> fit_columns(const PaneRows& rows,
                                        const PaneView& view,
                                        double seconds,
                                        std::size_t width);

// One line of the table, padded to `width`.
std::string header_line(const std::vector<PaneColumnText>& columns, std::size_t width);
std::string row_line(const std::vector<PaneColumnText>& columns,
                     std::size_t row,
                     std::size_t width);

// All of a row: each figure of the view's table on a line, and its stack below.
std::vector<std::string> row_detail(const PaneRows& rows, std::size_t row, std::size_t width);

}  // namespace memtrace
