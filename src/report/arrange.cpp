#include "report/arrange.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "report/call_tree.h"
#include "report/row_histograms.h"
#include "report/row_order.h"
#include "report/shares.h"

namespace memtrace {
namespace {

using Row = std::vector<Cell>;

// The same few functions appear in most stacks: each name is matched once.
struct Matcher {
  std::span<const NamePattern> patterns;
  std::unordered_map<std::string, bool> verdicts{};
};

// One call of arrange().
struct Job {
  const ArrangeOptions& options;
  std::string sort;  // a column's whole name
  Namer& namer;
  Matcher exclude{.patterns = options.exclude};
  Matcher only{.patterns = {options.only ? &*options.only : nullptr, options.only ? 1U : 0U}};
};

struct Figures {
  std::uint64_t rows = 0;
  std::uint64_t calls = 0;
};

bool any_matches(std::span<const NamePattern> patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(), [&name](const NamePattern& pattern) {
    return pattern.is_found_in(name);
  });
}

bool matches(const std::string& name, Matcher& matcher) {
  const auto [verdict, is_new] = matcher.verdicts.try_emplace(name, false);
  if (is_new) {
    verdict->second = any_matches(matcher.patterns, name);
  }
  return verdict->second;
}

bool matches(const Frames& frames, Matcher& matcher) {
  return std::any_of(frames.begin(), frames.end(), [&](const Frame& frame) {
    return matches(frame.function, matcher);
  });
}

bool matches(const Cell& cell, Matcher& matcher, Namer& namer) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return matches(*text, matcher);
  }
  if (const auto* stack = std::get_if<StackId>(&cell)) {
    return stack->valid() && matches(namer.stack(*stack), matcher);
  }
  const auto* location = std::get_if<LocationId>(&cell);
  return location != nullptr && location->valid() && matches(namer.location(*location), matcher);
}

bool any_matches(const Row& row, Matcher& matcher, Namer& namer) {
  return std::any_of(
      row.begin(), row.end(), [&](const Cell& cell) { return matches(cell, matcher, namer); });
}

// Of the key cells, numbers count as text: a process id is a name.
bool is_asked_for(const Row& row, std::size_t key_count, Job& job) {
  if (!job.options.only || any_matches(row, job.only, job.namer)) {
    return true;
  }
  return std::ranges::any_of(std::span(row).first(key_count), [&job](const Cell& key) {
    const auto* number = std::get_if<std::uint64_t>(&key);
    return number != nullptr && job.options.only->is_found_in(std::to_string(*number));
  });
}

bool is_kept(const Row& row, std::optional<std::size_t> count, Job& job) {
  const auto* calls = count ? std::get_if<std::uint64_t>(&row[*count]) : nullptr;
  if (calls != nullptr && *calls < job.options.min_count) {
    return false;
  }
  return job.options.exclude.empty() || !any_matches(row, job.exclude, job.namer);
}

Figures figures_of(const Table& table, std::optional<std::size_t> count) {
  Figures figures{.rows = table.rows.size()};
  for (const Row& row : table.rows) {
    const auto* calls = count ? std::get_if<std::uint64_t>(&row[*count]) : nullptr;
    figures.calls += calls != nullptr ? *calls : 0;
  }
  return figures;
}

void add_line(std::string& note, const std::string& line) {
  note += note.empty() ? line : "\n" + line;
}

// How often a row was seen: views that also count frees call it allocs.
std::optional<std::size_t> calls_column(const Table& table) {
  const auto count = find_column(table, "count");
  return count ? count : find_column(table, "allocs");
}

bool has_stacks(const Table& table) {
  return std::ranges::find(table.columns, Unit::Stack, &Column::unit) != table.columns.end();
}

void add_closing_figures(Table& table, const Figures& before, const Figures& after) {
  const char* rows = has_stacks(table) ? "Stacks" : "Rows";
  add_line(table.note, fmt::format("{} before filtering: {}", rows, print_count(before.rows)));
  add_line(table.note, fmt::format("{} after filtering: {}", rows, print_count(after.rows)));
  if (!calls_column(table)) {
    return;
  }
  add_line(table.note, "Calls before filtering: " + print_count(before.calls));
  add_line(table.note, "Calls after filtering: " + print_count(after.calls));
  const double kept_percent = before.calls == 0 ? 100.0
                                                : 100.0 * static_cast<double>(after.calls) /
                                                      static_cast<double>(before.calls);
  add_line(table.note, fmt::format("{:.2f} percent of the calls passed the filters", kept_percent));
}

void filter_rows(Table& table, Job& job) {
  const auto count = calls_column(table);
  const Figures before = figures_of(table, count);
  std::erase_if(table.rows, [&](const Row& row) {
    return !is_kept(row, count, job) || !is_asked_for(row, table.key_count, job);
  });
  if (job.options.closing_figures) {
    add_closing_figures(table, before, figures_of(table, count));
  }
}

std::int64_t as_signed(const Cell& cell) {
  const auto* number = std::get_if<std::uint64_t>(&cell);
  return number != nullptr ? static_cast<std::int64_t>(*number) : std::get<std::int64_t>(cell);
}

double as_double(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell);
  if (number != nullptr) {
    return *number;
  }
  const auto* count = std::get_if<std::uint64_t>(&cell);
  return count != nullptr ? static_cast<double>(*count)
                          : static_cast<double>(std::get<std::int64_t>(cell));
}

bool is_number(const Cell& cell) {
  return std::holds_alternative<std::uint64_t>(cell) ||
         std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

// Unknown cells count for nothing; a sum of nothing but unknown cells is unknown.
Cell add(const Cell& left, const Cell& right) {
  if (!is_number(left) || !is_number(right)) {
    return is_number(left) ? left : right;
  }
  if (std::holds_alternative<double>(left) || std::holds_alternative<double>(right)) {
    return as_double(left) + as_double(right);
  }
  const auto* left_number = std::get_if<std::uint64_t>(&left);
  const auto* right_number = std::get_if<std::uint64_t>(&right);
  if (left_number != nullptr && right_number != nullptr) {
    return *left_number + *right_number;
  }
  return as_signed(left) + as_signed(right);
}

Cell key_of_rest(const Column& column) {
  return column.unit == Unit::Text ? Cell("other") : Cell();
}

Row sum_of(const Table& table, std::size_t first_row) {
  Row sum(table.columns.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i < table.key_count) {
      sum[i] = key_of_rest(table.columns[i]);
      continue;
    }
    for (std::size_t row = first_row; can_be_summed(table.columns[i]) && row < table.rows.size();
         ++row) {
      sum[i] = add(sum[i], is_number(table.rows[row][i]) ? table.rows[row][i] : Cell());
    }
  }
  return sum;
}

// Rows that are not made yet, and are not made for this.
Cell sum_of(const RowSource& source, std::size_t figure, std::span<const std::uint32_t> rows) {
  Cell sum;
  for (const std::uint32_t row : rows) {
    const Cell cell = source.figure(row, figure);
    sum = is_number(cell) ? add(sum, cell) : sum;
  }
  return sum;
}

Row sum_of(const Table& table, const RowSource& source, std::span<const std::uint32_t> rows) {
  Row sum(table.columns.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i < table.key_count) {
      sum[i] = key_of_rest(table.columns[i]);
    } else if (can_be_summed(table.columns[i])) {
      sum[i] = sum_of(source, i - table.key_count, rows);
    }
  }
  return sum;
}

// Behind the rows that are shown.
void add_rest(Table& table, Row rest, std::size_t row_count) {
  const std::size_t top = table.rows.size();
  const std::size_t rest_count = row_count - top;
  table.rows.push_back(std::move(rest));
  table.last_is_rest = true;
  add_line(table.note,
           fmt::format("{} {} of {}; the other {} in the last line",
                       print_count(top),
                       top == 1 ? "row" : "rows",
                       print_count(row_count),
                       rest_count == 1 ? "one is" : (print_count(rest_count) + " are")));
}

void cut_rows(Table& table, std::uint64_t top) {
  const std::size_t row_count = table.rows.size();
  if (top == 0 || row_count <= top) {
    return;
  }
  Row rest = sum_of(table, top);
  table.rows.resize(top);
  add_rest(table, std::move(rest), row_count);
}

// The one that is asked for, else the table's own.
std::optional<std::size_t> sort_column(Table& table, const Job& job) {
  const auto column = find_column(table, job.sort);
  if (column) {
    table.sort = job.sort;
  }
  return column ? column : find_column(table, table.sort);
}

// Rows that nobody filters and that few are shown of are made when it is known which these are.
bool take_top(Table& table, std::optional<std::size_t> column, const Job& job) {
  const ArrangeOptions& options = job.options;
  const bool all_count = options.min_count == 0 && options.exclude.empty() && !options.only;
  if (options.top == 0 || !all_count || options.closing_figures ||
      table.source->size() <= options.top) {
    return false;
  }
  const auto order = first_rows(table, column, options.top);
  if (!order) {
    return false;
  }
  const auto source = std::exchange(table.source, nullptr);
  const std::size_t figure_count = table.columns.size() - table.key_count;
  for (const std::uint32_t row : std::span(*order).first(options.top)) {
    table.rows.push_back(source->cells(row, figure_count));
  }
  add_rest(table, sum_of(table, *source, std::span(*order).subspan(options.top)), source->size());
  return true;
}

bool becomes_tree(const Table& table, const Job& job) {
  return job.options.tree && can_be_tree(table);
}

void arrange_table(Table& table, Job& job) {
  if (table.fixed) {
    make_rows(table);
    return;
  }
  note_whole(table, find_column(table, job.sort));
  const auto column = sort_column(table, job);
  const bool wants_all = becomes_tree(table, job);
  if (table.source != nullptr && !wants_all && take_top(table, column, job)) {
    order_histograms(table);
    return;
  }
  make_rows(table);
  filter_rows(table, job);
  if (wants_all) {
    return;
  }
  drop_lost_histograms(table);
  sort_rows(table, column, job.namer);
  cut_rows(table, job.options.top);
  order_histograms(table);
}

void grow_trees(Report& report, Job& job) {
  for (const Table& table : report.tables) {
    if (becomes_tree(table, job)) {
      report.trees.push_back(tree_of(table, *job.options.tree, job.namer));
    }
  }
  std::erase_if(report.tables, [&job](const Table& table) { return becomes_tree(table, job); });
}

void arrange_tables(Report& report, Job& job) {
  for (Table& table : report.tables) {
    arrange_table(table, job);
  }
  grow_trees(report, job);
  for (Report& nested : report.reports) {
    arrange_tables(nested, job);
  }
}

void collect_columns(const Table& table, std::vector<std::string>& names) {
  for (const Column& column : table.columns) {
    if (!table.fixed && std::find(names.begin(), names.end(), column.name) == names.end()) {
      names.push_back(column.name);
    }
  }
}

void collect_columns(const Report& report, std::vector<std::string>& names) {
  for (const Table& table : report.tables) {
    collect_columns(table, names);
  }
  for (const Report& nested : report.reports) {
    collect_columns(nested, names);
  }
}

// As the text format heads the column: "time" is time_ns, "allocs/s" allocs_per_second. Or the
// beginning of one name only; else "".
std::string full_name(const std::string& word, const std::vector<std::string>& names) {
  constexpr std::string_view kRate = "/s";
  const std::string rate =
      word.ends_with(kRate) ? word.substr(0, word.size() - kRate.size()) + "_per_second" : word;
  for (const std::string& same : {word, word + "_ns", rate}) {
    if (std::ranges::find(names, same) != names.end()) {
      return same;
    }
  }
  const auto begins = [&word](const std::string& name) { return name.starts_with(word); };
  const auto first = std::ranges::find_if(names, begins);
  return std::ranges::count_if(names, begins) == 1 ? *first : "";
}

// The name of the column to sort by; "" for the tables' own.
Result<std::string> read_sort(const Report& report, const std::string& sort) {
  std::vector<std::string> names;
  collect_columns(report, names);
  if (sort.empty() || sort == kShareName || names.empty()) {  // a share has its figure's order
    return std::string();
  }
  if (std::string name = full_name(sort, names); !name.empty()) {
    return name;
  }
  const auto near = nearest(sort, names);
  const std::string hint =
      near.empty() ? "columns: " + join(names, ", ") : "did you mean " + join(near, " or ") + "?";
  return Error{"--sort " + sort + ": there is no such column", 0, hint, ErrorKind::Usage};
}

Result<> check_tree(const Report& report, const ArrangeOptions& options) {
  if (options.tree && std::ranges::none_of(report.tables, has_stacks)) {
    return Error{
        "--tree: the report has no stacks", 0, "group by them: --by stack", ErrorKind::Usage};
  }
  return kDone;
}

}  // namespace

Result<> arrange(Report& report, const ArrangeOptions& options, Namer& namer) {
  auto sort = read_sort(report, options.sort);
  if (!sort.ok()) {
    return sort.take_error();
  }
  TRY(check_tree(report, options));
  Job job{options, sort.take(), namer};
  arrange_tables(report, job);
  return kDone;
}

}  // namespace memtrace
