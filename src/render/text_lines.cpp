// Lines of text as they happen. What comes later is not known yet: a column is as wide as values of
// its unit mostly are, and grows when a wider one comes. Nothing is cut.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "base/visible.h"
#include "base/wall_time.h"
#include "render/cell_text.h"
#include "render/formats.h"
#include "render/text_line.h"
#include "render/text_table.h"

namespace memtrace {
namespace {

constexpr std::size_t kBetween = 2;

// What a column needs of the widest values that are not rare.
std::size_t usual_width(const Column& column) {
  constexpr std::size_t kThreadName = 15;  // TASK_COMM_LEN - 1
  constexpr std::size_t kNameLike = 10;
  switch (column.unit) {
    case Unit::Address:
      return 14;  // "0x7f0123456789", of a program
    case Unit::Bytes:
    case Unit::Nanoseconds:
      return 9;
    case Unit::Number:
      return 7;
    case Unit::Moment:
      return 15;  // "14:03:59.123456"
    case Unit::Text:
      return column.name == "comm" ? kThreadName : kNameLike;
    default:
      return 6;
  }
}

class TextLines final : public LineRenderer {
 public:
  explicit TextLines(const LineOptions& options) : options_(options) {}

  void render(const Report& lines, std::ostream& out) override {
    const Table& table = lines.tables.front();
    std::ostringstream text;
    for (const auto& row : table.rows) {
      print_row(lines, table, row, text);
    }
    if (!table.note.empty()) {
      text << table.note << '\n';
    }
    out << visible_lines(text.view());
  }

 private:
  void print_row(const Report& lines,
                 const Table& table,
                 const std::vector<Cell>& row,
                 std::ostream& out) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(print_cell(lines, table.columns[i].unit, row[i]));
    }
    if (is_header_due(table)) {
      print_header(lines, table, out);
    }
    print(table, cells, out);
    print_stacks(lines, table, row, out);
  }

  // Not all intervals have the same totals.
  bool is_header_due(const Table& table) {
    if (widths_.size() != table.columns.size()) {
      widths_.clear();
    }
    return widths_.empty() ||
           (options_.screen_rows != 0 && since_header_ + 1 >= options_.screen_rows);
  }

  void print_header(const Report& lines, const Table& table, std::ostream& out) {
    std::vector<std::string> names;
    for (const Column& column : table.columns) {
      names.push_back(header_in(lines, column));
      if (widths_.size() < table.columns.size()) {
        widths_.push_back(usual_width(column));
      }
    }
    since_header_ = 0;
    print(table, names, out);
    --since_header_;  // a header that is wrapped takes more than its own line
  }

  // No title shows the day.
  static std::string header_in(const Report& lines, const Column& column) {
    if (column.unit == Unit::Moment && lines.clock.shows_wall()) {
      return local_date(lines.clock.wall_start_ns);
    }
    return column.unit == Unit::Stack ? "" : header_of(lines, column);
  }

  void print(const Table& table, const std::vector<std::string>& cells, std::ostream& out) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Unit unit = table.columns[i].unit;
      if (unit == Unit::Stack) {
        continue;
      }
      widths_[i] = std::max(widths_[i], std::min(width_of(cells[i]), kWidest));
      line += line.empty() ? "" : std::string(kBetween, ' ');
      line += unit == Unit::Text ? pad_right(cells[i], widths_[i]) : pad_left(cells[i], widths_[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
    const std::size_t columns = std::max<std::size_t>(1, options_.columns);
    since_header_ += std::max<std::size_t>(1, (width_of(line) + columns - 1) / columns);
  }

  void print_stacks(const Report& lines,
                    const Table& table,
                    const std::vector<Cell>& row,
                    std::ostream& out) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (table.columns[i].unit == Unit::Stack) {
        since_header_ += print_stack(lines, row[i], options_.columns, out);
      }
    }
  }

  // A longer one shifts the rest of its own line alone.
  static constexpr std::size_t kWidest = 30;

  LineOptions options_;
  std::vector<std::size_t> widths_;  // of the columns, with those of stacks
  std::size_t since_header_ = 0;     // lines of the screen
};

}  // namespace

std::size_t line_width(const Report& lines, const Column& column) {
  return kBetween + std::max(usual_width(column), width_of(header_of(lines, column)));
}

std::unique_ptr<LineRenderer> make_text_lines(const LineOptions& options) {
  return std::make_unique<TextLines>(options);
}

}  // namespace memtrace
