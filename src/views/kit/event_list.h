// Single happenings, a row each: what --trace of a view prints as they come, and lists in reports.
//
//   EventList<Step> list;
//   list.add({.time_ns = event.time_ns, ...});
//   table = list.table("steps", 2, {figure<&Step::pid>("pid", Unit::Number)}, context);
//   lines = list.take({figure<&Step::pid>("pid", Unit::Number)}, context);
//
// The first column of every such table is at_ns: when it happened, from the start of the report.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "views/kit/figures.h"

namespace memtrace {

// More lines than anybody reads, and still room for a machine's other work.
inline constexpr std::size_t kMaxListed = 1'000'000;

// What a list that was cut says below its table; empty if nothing was cut.
inline std::string unlisted_note(std::uint64_t count) {
  return count == 0 ? "" : print_count(count) + " more are not listed";
}

// A column of a list; unlike a Figure, it may depend on what the user asked for.
template <typename Entry, typename Context = CellContext>
struct ListColumn {
  std::string name;
  Unit unit = Unit::Count;
  std::function<Cell(const Entry& entry, const Context& context)> of;

  ListColumn(std::string_view column, Unit column_unit, decltype(of) column_cell)
      : name(column), unit(column_unit), of(std::move(column_cell)) {}

  template <typename Maker>
  ListColumn(figures_parts::Described<Maker> column)  // NOLINT(google-explicit-constructor)
      : ListColumn(static_cast<Figure<Entry, Context>>(column)) {}

  ListColumn(Figure<Entry, Context> figure)  // NOLINT(google-explicit-constructor)
      : name(figure.name), unit(figure.unit), of(figure.of) {}
};

template <typename Entry, typename Context = CellContext>
using ListColumns = std::vector<ListColumn<Entry, Context>>;

// The name of the thread whose entry it is.
template <typename Entry, typename Context = CellContext>
ListColumn<Entry, Context> comm_column() {
  return {"comm", Unit::Text, [](const Entry& entry, const Context& context) {
            return text_of(context.world, entry.comm);
          }};
}

// Entries: a range of values with a time_ns. `key_count` columns are keys, at_ns among them.
template <typename Entries, typename Entry, typename Context>
Table list_table(std::string title,
                 std::size_t key_count,
                 const Entries& entries,
                 const ListColumns<Entry, Context>& columns,
                 const Context& context) {
  Table table{.title = std::move(title),
              .columns = {{"at_ns", Unit::Moment}},
              .key_count = key_count,
              .fixed = true};
  for (const auto& column : columns) {
    table.columns.push_back({column.name, column.unit});
  }
  table.rows.reserve(entries.size());
  for (const Entry& entry : entries) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row.reserve(table.columns.size());
    row.push_back(since(entry.time_ns, context.span.start_ns));
    for (const auto& column : columns) {
      row.push_back(column.of(entry, context));
    }
  }
  return table;
}

template <typename Entry>
class EventList {
 public:
  // Keeps the first ones of an interval.
  explicit EventList(std::size_t most = kMaxListed) : most_(most) {}

  // Keeps the last ones.
  static EventList of_last(std::size_t count) {
    EventList list(count);
    list.keeps_last_ = true;
    return list;
  }

  void add(Entry entry) {
    if (entries_.size() >= most_ && !keeps_last_) {
      ++unlisted_;
      return;
    }
    entries_.push_back(std::move(entry));
    if (entries_.size() > most_) {
      entries_.pop_front();
    }
  }

  std::size_t size() const { return entries_.size(); }

  bool empty() const { return entries_.empty(); }

  // Entries may have come out of order.
  template <typename Context>
  Table table(std::string title,
              std::size_t key_count,
              const ListColumns<Entry, Context>& columns,
              const Context& context) {
    std::ranges::stable_sort(entries_, {}, &Entry::time_ns);
    Table table = list_table(std::move(title), key_count, entries_, columns, context);
    table.note = unlisted_note(unlisted_);
    return table;
  }

  // What has come since the last call, in the order in which it came (View::take_lines).
  template <typename Context>
  Table take(const ListColumns<Entry, Context>& columns, const Context& context) {
    Table table = list_table("", 1 + columns.size(), entries_, columns, context);
    table.note = unlisted_note(unlisted_);
    clear();
    return table;
  }

  void clear() {
    entries_.clear();
    unlisted_ = 0;
  }

 private:
  std::deque<Entry> entries_;
  std::size_t most_;
  bool keeps_last_ = false;
  std::uint64_t unlisted_ = 0;
};

// An event to keep: its raw bytes and texts are borrowed, and gone when the list is shown.
inline Event without_borrowed(const Event& event) {
  Event kept = event;
  kept.raw = {};
  kept.freed = nullptr;
  return kept;
}

// Keys of events, as KeySet has them, and figures behind them.
inline ListColumns<Event> columns_of(std::span<const std::string_view> keys,
                                     std::span<const KeySpec> own,
                                     std::span<const Figure<Event>> figures = {}) {
  ListColumns<Event> columns;
  for (const std::string_view key : keys) {
    const auto found = std::ranges::find(own, key, &KeySpec::name);
    const KeySpec spec = found == own.end() ? *find_shared_key(key) : *found;
    columns.push_back(
        {spec.name, spec.unit, [spec](const Event& event, const CellContext& context) {
           return spec.cell(spec.of(event), context);
         }});
  }
  columns.insert(columns.end(), figures.begin(), figures.end());
  return columns;
}

}  // namespace memtrace
