#include "report/difference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "base/text.h"
#include "base/units.h"
#include "report/shares.h"

namespace memtrace {
namespace {

using Row = std::vector<Cell>;
using Scale = DifferenceOptions::Scale;

// What two rows have in common when they are of the same thing.
void append_names(const Frames& frames, std::string& text) {
  for (const Frame& frame : frames) {
    text += frame.function + ';' + frame.module + '\n';
  }
}

std::string text_of(const Report& report, const Cell& cell) {
  std::string text;
  if (const auto* stack = std::get_if<StackId>(&cell)) {
    const auto found = report.stacks.find(*stack);
    append_names(found == report.stacks.end() ? Frames() : found->second, text);
  } else if (const auto* place = std::get_if<LocationId>(&cell)) {
    const auto found = report.locations.find(*place);
    append_names(found == report.locations.end() ? Frames() : found->second, text);
  } else if (const auto* word = std::get_if<std::string>(&cell)) {
    text = *word;
  } else if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    text = std::to_string(*number);
  }
  return text;
}

double figure_of(const Cell& cell) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    return static_cast<double>(*number);
  }
  if (const auto* change = std::get_if<std::int64_t>(&cell)) {
    return static_cast<double>(*change);
  }
  const auto* mean = std::get_if<double>(&cell);
  return mean == nullptr ? 0 : *mean;
}

const Table* table_of(const Report& report) {
  const auto found = std::ranges::find_if(
      report.tables, [](const Table& table) { return table.key_count > 0 && !table.fixed; });
  return found == report.tables.end() ? nullptr : &*found;
}

std::optional<std::size_t> column_of(const Table& table, const std::string& name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  return found == table.columns.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - table.columns.begin()));
}

// One row of the result while it is put together.
struct Change {
  const Report* report = nullptr;  // whose row it is
  const Row* row = nullptr;
  double before = 0;
  double after = 0;

  double size() const { return std::abs(after - before); }
};

class Comparison {
 public:
  explicit Comparison(Scale scale) : scale_(scale) {}

  void add(const Report& report, const Table& table, std::size_t figure, double Change::*side) {
    const double one = one_of(report, table, figure);
    for (const Row& row : table.rows) {
      std::string keys;
      for (std::size_t key = 0; key < table.key_count; ++key) {
        keys += text_of(report, row[key]) + '\0';
      }
      Change& change = changes_[keys];
      change.report = &report;
      change.row = &row;
      change.*side += figure_of(row[figure]) / one;
    }
  }

  // Those that differ, the largest first.
  std::vector<Change> take() {
    std::vector<Change> sorted;
    for (auto& [keys, change] : changes_) {
      if (change.size() > 0) {
        sorted.push_back(change);
      }
    }
    std::ranges::stable_sort(
        sorted, [](const Change& left, const Change& right) { return left.size() > right.size(); });
    return sorted;
  }

 private:
  // What counts as 1: shares, and parts of the time, are in percent.
  double one_of(const Report& report, const Table& table, std::size_t figure) const {
    constexpr double kLeast = 1e-9;
    if (scale_ == Scale::PerSecond) {
      const auto span_ns = static_cast<double>(report.end_ns - report.start_ns);
      const bool is_time = table.columns[figure].unit == Unit::Nanoseconds;
      return std::max(kLeast, span_ns / (is_time ? 100 : 1e9));
    }
    double sum = 0;
    for (const Row& row : table.rows) {
      sum += figure_of(row[figure]);
    }
    return scale_ == Scale::Share ? std::max(kLeast, sum / 100) : 1;
  }

  std::map<std::string, Change> changes_;
  Scale scale_;
};

// Stacks of two reports have numbers of their own: here they get new ones.
class Numbering {
 public:
  explicit Numbering(Report& report) : report_(report) {}

  Cell renamed(const Report& from, const Cell& cell) {
    if (const auto* stack = std::get_if<StackId>(&cell)) {
      return copy(from.stacks, *stack, report_.stacks);
    }
    if (const auto* place = std::get_if<LocationId>(&cell)) {
      return copy(from.locations, *place, report_.locations);
    }
    return cell;
  }

 private:
  template <typename Names, typename Key>
  Cell copy(const Names& from, Key key, Names& target) {
    const auto found = from.find(key);
    if (found == from.end()) {
      return Key();
    }
    const Key number{static_cast<std::uint32_t>(target.size() + 1)};
    target.emplace(number, found->second);
    return number;
  }

  Report& report_;
};

// Nanoseconds of each second are a part of the time.
Unit unit_of(const Column& figure, Scale scale) {
  return scale == Scale::Whole                                       ? figure.unit
         : scale == Scale::Share || figure.unit == Unit::Nanoseconds ? Unit::Percent
         : figure.unit == Unit::Bytes                                ? Unit::BytesPerSecond
                                                                     : Unit::PerSecond;
}

Cell cell_of(double value, Unit unit) {
  const bool has_fractions = unit == Unit::Percent || unit == Unit::Share ||
                             unit == Unit::PerSecond || unit == Unit::BytesPerSecond;
  return has_fractions ? Cell(value) : Cell(static_cast<std::int64_t>(std::llround(value)));
}

// "live_bytes", "resident", "size": what is there at the end, and not what happened in the time.
bool is_state(const Column& figure) {
  constexpr auto kStates =
      std::to_array<std::string_view>({"live", "resident", "size", "outstanding", "held"});
  const auto words = split(figure.name, '_');
  return std::find_first_of(words.begin(), words.end(), kStates.begin(), kStates.end()) !=
         words.end();
}

// Averages, extremes, percentiles and percentages are no parts of anything.
Scale scale_for(const Column& figure, Scale wanted) {
  const bool can_be_scaled = is_amount(figure) && (wanted != Scale::PerSecond || !is_state(figure));
  return can_be_scaled ? wanted : Scale::Whole;
}

std::string title_of(const Column& figure, Scale scale, Scale wanted) {
  const std::string title = "change of " + figure.name + ", the largest first";
  return scale == wanted          ? title
         : wanted == Scale::Share ? title + ", not as a share"
                                  : title + ", not per second";
}

std::string state_of(const Change& change) {
  return change.before == 0             ? "new"
         : change.after == 0            ? "gone"
         : change.after > change.before ? "grown"
                                        : "shrunk";
}

Table table_of(const std::vector<Change>& changes,
               const Table& keys,
               const Column& figure,
               const DifferenceOptions& options,
               Numbering& numbering) {
  const std::size_t shown =
      options.top == 0 ? changes.size() : std::min<std::size_t>(options.top, changes.size());
  const Scale scale = scale_for(figure, options.scale);
  Table table{.title = title_of(figure, scale, options.scale),
              .columns = {keys.columns.begin(),
                          keys.columns.begin() + static_cast<std::ptrdiff_t>(keys.key_count)},
              .key_count = keys.key_count,
              .fixed = true};
  const Unit unit = unit_of(figure, scale);
  table.columns.push_back({"state", Unit::Text});
  table.columns.push_back({"before", unit});
  table.columns.push_back({"after", unit});
  table.columns.push_back({"change", unit});
  for (const Change& change : std::span(changes).first(shown)) {
    Row row;
    for (std::size_t key = 0; key < keys.key_count; ++key) {
      row.push_back(numbering.renamed(*change.report, (*change.row)[key]));
    }
    row.emplace_back(state_of(change));
    for (const double value : {change.before, change.after, change.after - change.before}) {
      row.push_back(cell_of(value, unit));
    }
    table.rows.push_back(std::move(row));
  }
  if (shown < changes.size()) {
    table.note = print_count(changes.size() - shown) + " more rows changed less";
  }
  return table;
}

}  // namespace

Result<Report> difference(const Report& before,
                          const Report& after,
                          const DifferenceOptions& options) {
  const Table* old_table = table_of(before);
  const Table* new_table = table_of(after);
  if (old_table == nullptr || new_table == nullptr) {
    return Error{"the view " + after.view + " has no table that can be compared", 0, ""};
  }
  const std::string name = !options.figure.empty() ? options.figure : new_table->sort;
  const auto old_column = column_of(*old_table, name);
  const auto new_column = column_of(*new_table, name);
  if (!old_column || !new_column || *new_column < new_table->key_count) {
    std::vector<std::string> names;
    for (const Column& column : std::span(new_table->columns).subspan(new_table->key_count)) {
      names.push_back(column.name);
    }
    return Error{"the view " + after.view + " has no figure '" + name + "'",
                 0,
                 "figures are " + join(names, ", "),
                 ErrorKind::Usage};
  }
  const Column& figure = new_table->columns[*new_column];
  Comparison comparison(scale_for(figure, options.scale));
  comparison.add(before, *old_table, *old_column, &Change::before);
  comparison.add(after, *new_table, *new_column, &Change::after);
  Report report{.view = after.view, .title = after.title};
  report.start_ns = after.start_ns;
  report.end_ns = after.end_ns;
  Numbering numbering(report);
  report.tables.push_back(table_of(comparison.take(), *new_table, figure, options, numbering));
  return report;
}

}  // namespace memtrace
