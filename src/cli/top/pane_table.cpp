#include "cli/top/pane_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>

#include "base/visible.h"
#include "render/cell_text.h"
#include "render/text_line.h"
#include "report/resolve.h"

namespace memtrace {
namespace {

constexpr std::size_t kWidestKey = 28;  // of names in a column
constexpr std::size_t kNarrowestStack = 12;
constexpr std::size_t kGap = 1;

const Table* table_of(const TopSnapshot& snapshot, const PaneLook& look) {
  if (look.of_processes) {
    return &snapshot.processes;
  }
  if (look.query >= snapshot.reports.size()) {
    return nullptr;
  }
  const Report& report = snapshot.reports[look.query];
  return look.table < report.tables.size() ? &report.tables[look.table] : nullptr;
}

// Names of the kernel's allocators begin so (mm/slub.c, mm/page_alloc.c, mm/mempolicy.c), and the
// functions of malloc(3) are named so: on a narrow screen their callers matter.
bool is_allocator(const Frame& frame) {
  constexpr auto kBegins = std::to_array<std::string_view>({"kmem_cache_alloc",
                                                            "__kmalloc",
                                                            "__kvmalloc",
                                                            "kmalloc",
                                                            "__alloc_frozen_pages",
                                                            "__alloc_pages",
                                                            "alloc_pages",
                                                            "__folio_alloc",
                                                            "folio_alloc_noprof",
                                                            "vma_alloc_folio",
                                                            "operator new"});
  constexpr auto kNames = std::to_array<std::string_view>({"malloc",
                                                           "calloc",
                                                           "realloc",
                                                           "reallocarray",
                                                           "memalign",
                                                           "posix_memalign",
                                                           "aligned_alloc"});
  if (std::ranges::find(kNames, frame.function) != kNames.end()) {
    return true;
  }
  return std::ranges::any_of(
      kBegins, [&frame](std::string_view begin) { return frame.function.starts_with(begin); });
}

// From the first caller of the allocator on; of a stack without one, the outermost function.
std::string stack_text(const Report& report, const Cell& cell) {
  const auto* stack = std::get_if<StackId>(&cell);
  const auto found = stack == nullptr ? report.stacks.end() : report.stacks.find(*stack);
  if (found == report.stacks.end() || found->second.empty()) {
    return "[unknown]";
  }
  const Frames& frames = found->second;
  auto frame = std::find_if_not(frames.begin(), frames.end(), is_allocator);
  frame -= frame == frames.end() ? 1 : 0;
  std::string text = visible(frame->function);
  for (++frame; frame != frames.end(); ++frame) {
    text += " < " + visible(frame->function);
  }
  return text;
}

double number_of(const Cell& cell) {
  if (const auto* value = std::get_if<std::uint64_t>(&cell)) {
    return static_cast<double>(*value);
  }
  if (const auto* value = std::get_if<std::int64_t>(&cell)) {
    return static_cast<double>(*value);
  }
  const auto* value = std::get_if<double>(&cell);
  return value == nullptr ? -1.0 : *value;
}

std::string rate_text(const Report& report, Unit unit, const Cell& cell, double seconds) {
  const double value = number_of(cell);
  if (value < 0 || seconds <= 0) {
    return print_cell(report, unit, cell);
  }
  constexpr double kFewest = 9.95;  // from here on, tenths say nothing
  const double rate = value / seconds;
  if (unit == Unit::Count && rate < kFewest && rate != std::floor(rate)) {
    return fmt::format("{:.1f}", rate);
  }
  return print_figure(unit, static_cast<std::uint64_t>(std::llround(rate)));
}

std::string cell_text(const Report& report,
                      const Column& column,
                      const Cell& cell,
                      double per_seconds) {
  if (column.unit == Unit::Stack) {
    return stack_text(report, cell);
  }
  const std::string text = per_seconds > 0 ? rate_text(report, column.unit, cell, per_seconds)
                                           : print_cell(report, column.unit, cell);
  return column.unit == Unit::Text ? cut_middle(text, kWidestKey) : text;
}

// Nothing for a column that this view's table does not have.
std::vector<PaneColumnText> column_texts(const PaneRows& rows,
                                         const PaneView& view,
                                         double seconds) {
  std::vector<PaneColumnText> texts;
  const Table& table = rows.report.tables.front();
  for (const PaneColumn& shown : columns_of(view)) {
    const auto found = std::ranges::find(table.columns, shown.name, &Column::name);
    if (found == table.columns.end()) {
      continue;
    }
    const auto place = static_cast<std::size_t>(found - table.columns.begin());
    PaneColumnText text{.name = found->name,
                        .header = std::string(shown.header),
                        .is_text = found->unit == Unit::Text || found->unit == Unit::Stack,
                        .is_stack = found->unit == Unit::Stack};
    text.header += found->name == view.sort ? "*" : "";
    text.width = width_of(text.header);
    for (const std::vector<Cell>& row : table.rows) {
      text.cells.push_back(cell_text(rows.report, *found, row[place], shown.is_rate ? seconds : 0));
      text.width = std::max(text.width, width_of(text.cells.back()));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string padded(const PaneColumnText& column, const std::string& text) {
  const std::string cut = cut_end(text, column.width);
  return column.is_text ? pad_right(cut, column.width) : pad_left(cut, column.width);
}

std::string line_of(const std::vector<PaneColumnText>& columns,
                    std::size_t width,
                    const std::function<const std::string&(const PaneColumnText&)>& text) {
  std::string line;
  for (const PaneColumnText& column : columns) {
    line += std::string(column.begin - width_of(line), ' ') + padded(column, text(column));
  }
  return pad_right(cut_end(line, width), width);
}

}  // namespace

std::span<const PaneColumn> columns_of(const PaneView& view) {
  return view.live && !view.look->live.empty() ? view.look->live : view.look->rates;
}

PaneRows take_rows(const TopSnapshot& snapshot,
                   const PaneView& view,
                   std::size_t most_rows,
                   Namer& namer) {
  PaneRows rows;
  const Table* table = table_of(snapshot, *view.look);
  if (table == nullptr) {
    rows.report.tables.emplace_back();
    return rows;
  }
  rows.report.tables.push_back(*table);
  rows.report.tables.front().fixed = false;  // the user may sort a list of kinds, too
  ArrangeOptions options{.sort = view.sort};
  if (view.only != nullptr) {
    options.only = *view.only;
  }
  if (!arrange(rows.report, options, namer).ok()) {
    // The column that sorts is none of this view's on this kernel.
    options.sort.clear();
    static_cast<void>(arrange(rows.report, options, namer));
  }
  auto& all = rows.report.tables.front().rows;
  rows.row_count = all.size();
  const std::size_t first = std::min(view.first_row, all.size());
  all.erase(all.begin(), std::next(all.begin(), static_cast<std::ptrdiff_t>(first)));
  all.resize(std::min(most_rows, all.size()));
  resolve(rows.report, namer);
  return rows;
}

std::vector<PaneColumnText> fit_columns(const PaneRows& rows,
                                        const PaneView& view,
                                        double seconds,
                                        std::size_t width) {
  std::vector<PaneColumnText> fitting;
  std::size_t end = 0;
  for (PaneColumnText& column : column_texts(rows, view, seconds)) {
    column.begin = end + (fitting.empty() ? 0 : kGap);
    const std::size_t least = column.is_stack ? kNarrowestStack : column.width;
    if (column.begin + least > width) {
      continue;
    }
    if (column.is_stack) {
      column.width = width - column.begin;
    }
    end = column.begin + column.width;
    fitting.push_back(std::move(column));
  }
  return fitting;
}

std::string header_line(const std::vector<PaneColumnText>& columns, std::size_t width) {
  return line_of(columns, width, [](const PaneColumnText& column) -> const std::string& {
    return column.header;
  });
}

std::string row_line(const std::vector<PaneColumnText>& columns,
                     std::size_t row,
                     std::size_t width) {
  return line_of(columns, width, [row](const PaneColumnText& column) -> const std::string& {
    return column.cells[row];
  });
}

std::vector<std::string> row_detail(const PaneRows& rows, std::size_t row, std::size_t width) {
  std::vector<std::string> lines;
  const Table& table = rows.report.tables.front();
  if (row >= table.rows.size()) {
    return lines;
  }
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Cell& cell = table.rows[row][i];
    const auto* stack = std::get_if<StackId>(&cell);
    const auto found =
        stack == nullptr ? rows.report.stacks.end() : rows.report.stacks.find(*stack);
    if (found == rows.report.stacks.end()) {
      lines.push_back(fmt::format("{:<18} {}",
                                  table.columns[i].name,
                                  print_cell(rows.report, table.columns[i].unit, cell)));
      continue;
    }
    lines.push_back(table.columns[i].name + ":");
    for (const Frame& frame : found->second) {
      lines.push_back("  " + print_frame(frame, width > 2 ? width - 2 : 0));
    }
  }
  return lines;
}

}  // namespace memtrace
