#include "timeline/slot_rows.h"

#include <algorithm>
#include <span>
#include <utility>

namespace memtrace {
namespace {

// What a key cell of one kind has that no other has.
struct KeyText {
  std::string operator()(std::monostate /*none*/) const { return "-"; }

  std::string operator()(StackId stack) const { return "s" + std::to_string(stack.value); }

  std::string operator()(LocationId place) const { return "l" + std::to_string(place.value); }

  std::string operator()(const std::string& text) const { return "t" + text; }

  template <typename Number>
  std::string operator()(Number number) const {
    return std::to_string(number);
  }
};

void add_to(SlotRows::Figures& sums, const SlotRows::Figures& figures) {
  sums.resize(std::max(sums.size(), figures.size()));
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (figures[i]) {
      sums[i] = sums[i].value_or(0) + *figures[i];
    }
  }
}

}  // namespace

bool SlotRows::is_nothing(const Figures& figures) {
  return std::ranges::all_of(figures, [](const auto& figure) { return figure.value_or(0) == 0; });
}

std::optional<double> SlotRows::figure_of(const Cell& cell) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    return static_cast<double>(*number);
  }
  if (const auto* change = std::get_if<std::int64_t>(&cell)) {
    return static_cast<double>(*change);
  }
  const auto* real = std::get_if<double>(&cell);
  return real == nullptr ? std::nullopt : std::optional(*real);
}

std::string SlotRows::key_of(const std::vector<Cell>& cells, std::size_t key_count) {
  std::string key;
  for (const Cell& cell : std::span(cells).first(key_count)) {
    key += std::visit(KeyText(), cell) + '\0';
  }
  return key;
}

// Columns are found by name: those of totals come and go.
void SlotRows::add(std::uint32_t round, Table& table) {
  make_rows(table);
  last_round_ = round;
  std::vector<std::size_t> places;
  for (const Column& column : std::span(table.columns).subspan(table.key_count)) {
    places.push_back(add_place(column.name));
  }
  for (const auto& cells : table.rows) {
    Entry entry{.round = round, .figures = Figures(columns_.size())};
    for (std::size_t i = 0; i < places.size(); ++i) {
      entry.figures[places[i]] = figure_of(cells[table.key_count + i]);
    }
    if (!is_nothing(entry.figures)) {
      add_row(key_of(cells, table.key_count), std::move(entry));
    }
  }
}

std::size_t SlotRows::add_place(const std::string& column) {
  if (const auto place = place_of(column)) {
    return *place;
  }
  columns_.push_back(column);
  return columns_.size() - 1;
}

// A row for which there was no room once has none later.
void SlotRows::add_row(const std::string& key, Entry entry) {
  const bool is_listed = rows_.size() < bounds_.rows || rows_.contains(key);
  Row& row = is_listed ? rows_[key] : unlisted_;
  if (!is_listed && !row.empty() && row.back().round == entry.round) {
    add_to(row.back().figures, entry.figures);
    return;
  }
  if (++entries_ <= bounds_.entries) {
    row.push_back(std::move(entry));
  }
}

const SlotRows::Row* SlotRows::find(const std::string& key) const {
  const auto found = rows_.find(key);
  return found == rows_.end() ? nullptr : &found->second;
}

std::optional<std::size_t> SlotRows::place_of(const std::string& column) const {
  const auto found = std::ranges::find(columns_, column);
  return found == columns_.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - columns_.begin()));
}

}  // namespace memtrace
