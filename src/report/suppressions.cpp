#include "report/suppressions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/text.h"

namespace memtrace {
namespace {

constexpr std::size_t kNoRule = std::numeric_limits<std::size_t>::max();

std::uint64_t figure_in(const std::vector<Cell>& row, const Table& table, std::string_view name) {
  const auto column = std::ranges::find(table.columns, name, &Column::name);
  if (column == table.columns.end()) {
    return 0;
  }
  const auto* value =
      std::get_if<std::uint64_t>(&row[static_cast<std::size_t>(column - table.columns.begin())]);
  return value == nullptr ? 0 : *value;
}

struct Used {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

void take_from_totals(Report& report, const Table& table, const std::vector<Cell>& row) {
  for (Total& total : report.totals) {
    total.value -= std::min(total.value, figure_in(row, table, total.name));
  }
}

Table used_table(const std::vector<std::string>& patterns, const std::vector<Used>& used) {
  Table table{.title = "suppressions used", .fixed = true};
  table.columns = {{"suppression", Unit::Text}, {"count", Unit::Count}, {"bytes", Unit::Bytes}};
  table.key_count = 1;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i].count != 0) {
      table.rows.push_back({patterns[i], used[i].count, used[i].bytes});
    }
  }
  return table;
}

}  // namespace

Result<Suppressions> Suppressions::parse(std::string_view text, const std::string& name) {
  constexpr std::string_view kStart = "leak:";
  Suppressions suppressions;
  int number = 0;
  for (const std::string_view raw_line : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw_line);
    if (line.empty() || line[0] == '#') {
      continue;
    }
    const std::string_view pattern = line.starts_with(kStart) ? line.substr(kStart.size()) : "";
    if (pattern.empty()) {
      return Error{fmt::format("{}:{}: '{}'", name, number, line),
                   0,
                   "suppressions are lines such as leak:FUNCTION, leak:libfoo.so or leak:file.c"};
    }
    suppressions.rules_.push_back(make_rule(pattern));
  }
  return suppressions;
}

// A pattern is found anywhere; * matches anything, ^ and $ match the ends.
Suppressions::Rule Suppressions::make_rule(std::string_view pattern) {
  Rule rule{.pattern = std::string(pattern)};
  rule.from_start = pattern.starts_with('^');
  pattern.remove_prefix(rule.from_start ? 1 : 0);
  rule.to_end = pattern.ends_with('$');
  pattern.remove_suffix(rule.to_end ? 1 : 0);
  for (const std::string_view piece : split(pattern, '*')) {
    rule.pieces.emplace_back(piece);
  }
  return rule;
}

// The first place for each piece is as good as any: the next may begin anywhere behind it.
bool Suppressions::Rule::is_found_in(std::string_view name) const {
  std::size_t at = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string_view piece = pieces[i];
    const bool is_last = i + 1 == pieces.size();
    if (is_last && to_end) {
      const bool fits = name.size() - at >= piece.size() && name.ends_with(piece);
      return fits && (i > 0 || !from_start || name.size() == piece.size());
    }
    const std::size_t found = name.find(piece, at);
    if (found == std::string_view::npos || (i == 0 && from_start && found != 0)) {
      return false;
    }
    at = found + piece.size();
  }
  return true;
}

std::size_t Suppressions::matching_rule(const std::vector<Cell>& row, Namer& namer) const {
  for (const Cell& cell : row) {
    const auto* stack = std::get_if<StackId>(&cell);
    if (stack == nullptr || !stack->valid()) {
      continue;
    }
    if (const std::size_t rule = rule_for(namer.stack(*stack)); rule != kNoRule) {
      return rule;
    }
  }
  return kNoRule;
}

std::size_t Suppressions::rule_for(const Frames& stack) const {
  for (const Frame& frame : stack) {
    const auto found = std::find_if(rules_.begin(), rules_.end(), [&frame](const Rule& rule) {
      return rule.is_found_in(frame.function) || rule.is_found_in(frame.file) ||
             rule.is_found_in(frame.module);
    });
    if (found != rules_.end()) {
      return static_cast<std::size_t>(found - rules_.begin());
    }
  }
  return kNoRule;
}

std::vector<Suppressions::TakenRow> Suppressions::take_rows(Table& table, Namer& namer) const {
  std::vector<TakenRow> taken;
  std::erase_if(table.rows, [&](const std::vector<Cell>& row) {
    const std::size_t rule = matching_rule(row, namer);
    if (rule != kNoRule) {
      taken.push_back({row, rule});
    }
    return rule != kNoRule;
  });
  return taken;
}

void Suppressions::apply(Report& report, Namer& namer) const {
  std::vector<Used> used(rules_.size());
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    const std::vector<TakenRow> taken = take_rows(report.tables[i], namer);
    for (const auto& [row, rule] : i == 0 ? taken : std::vector<TakenRow>()) {
      used[rule].count += figure_in(row, report.tables[i], "count");
      used[rule].bytes += figure_in(row, report.tables[i], "bytes");
      take_from_totals(report, report.tables[i], row);
    }
  }
  std::vector<std::string> patterns;
  patterns.reserve(rules_.size());
  for (const Rule& rule : rules_) {
    patterns.push_back(rule.pattern);
  }
  Table table = used_table(patterns, used);
  if (!table.rows.empty()) {
    report.tables.push_back(std::move(table));
  }
}

}  // namespace memtrace
