#include "cli/output/interval_lines.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"

namespace memtrace {
namespace {

void add(Caveats& all, const Caveats& more) {
  all.lost += more.lost;
  all.late += more.late;
  all.overload += more.overload;
  all.malformed += more.malformed;
  all.cut += more.cut;
  all.unmatched += more.unmatched;
  all.unmatched_why = more.unmatched_why;
  all.notes = more.notes;  // most have figures, which grow
}

}  // namespace

Report totals_row(const Report& interval) {
  Report row;
  row.view = interval.view;
  row.start_ns = interval.start_ns;
  row.end_ns = interval.end_ns;
  row.clock = interval.clock;
  Table& table = row.tables.emplace_back();
  table.columns = {{"at_ns", Unit::Moment}};
  table.rows = {{interval.end_ns - std::min(interval.end_ns, interval.start_ns)}};
  for (const Total& total : interval.totals) {
    table.columns.push_back({total.name, total.unit});
    table.rows.front().emplace_back(total.value);
  }
  table.columns.push_back({"lost", Unit::Count});
  table.rows.front().emplace_back(interval.caveats.missing());
  return row;
}

Report fitted(Report row, std::size_t width, std::vector<std::string>& left_out) {
  Table& table = row.tables.front();
  const auto needed = [&row](const Column& column) { return line_width(row, column); };
  std::size_t used = needed(table.columns.front()) + needed(table.columns.back());
  std::size_t kept = 1;
  while (kept + 1 < table.columns.size() && used + needed(table.columns[kept]) <= width) {
    used += needed(table.columns[kept++]);
  }
  left_out.clear();
  for (std::size_t i = kept; i + 1 < table.columns.size(); ++i) {
    left_out.push_back(table.columns[i].name);
  }
  const auto count = static_cast<std::ptrdiff_t>(left_out.size());
  table.columns.erase(table.columns.end() - 1 - count, table.columns.end() - 1);
  std::vector<Cell>& cells = table.rows.front();
  cells.erase(cells.end() - 1 - count, cells.end() - 1);
  return row;
}

Result<IntervalLines> IntervalLines::create(const PrintOptions& options) {
  auto printer = LinePrinter::create("--line", options);
  if (!printer.ok()) {
    return printer.take_error();
  }
  const bool has_width = options.format == "text" && (options.columns != 0 || is_terminal());
  return IntervalLines(printer.take(), has_width ? output_columns(options.columns) : 0);
}

Result<> IntervalLines::print(const Report& interval) {
  caveats_ = caveats_.value_or(Caveats());
  add(*caveats_, interval.caveats);
  Report row = totals_row(interval);
  return printer_.print(width_ == 0 ? row : fitted(std::move(row), width_, left_out_));
}

Result<> IntervalLines::end() {
  if (caveats_) {
    if (!left_out_.empty()) {
      caveats_->notes.push_back("the terminal has no room for " + join(left_out_, ", ") +
                                ": --wide shows all columns");
    }
    print_caveats(*caveats_);
  }
  return kDone;
}

}  // namespace memtrace
