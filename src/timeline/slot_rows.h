// The rows of one part of a view's report, gathered round by round: a round is a report of what
// happened since the one before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/report.h"

namespace memtrace {

// What bounds the memory and the time that reports by slot take.
struct SlotBounds {
  std::size_t rows = 2000;        // of each part that have their own figures
  std::size_t entries = 400'000;  // rows times slots, of each part
  // By all views that look at each live block at the end of each slot, in millions of which that
  // would take minutes.
  std::uint64_t visited_blocks = 50'000'000;
};

class SlotRows {
 public:
  explicit SlotRows(const SlotBounds& bounds = {}) : bounds_(bounds) {}

  using Figures = std::vector<std::optional<double>>;

  struct Entry {
    std::uint32_t round = 0;
    Figures figures;
  };

  using Row = std::vector<Entry>;  // by round, ascending

  // Rounds have ascending numbers. Makes the table's rows.
  void add(std::uint32_t round, Table& table);

  // The figures of a table's rows, and what is the same in all reports of a row.
  static std::optional<double> figure_of(const Cell& cell);
  static std::string key_of(const std::vector<Cell>& cells, std::size_t key_count);

  static bool is_nothing(const Figures& figures);

  // Of the row with this key. Null: none of its figures is known by round.
  const Row* find(const std::string& key) const;

  const std::unordered_map<std::string, Row>& rows() const { return rows_; }

  // The sums of all rows for which there was no room.
  const Row& unlisted() const { return unlisted_; }

  // Where the figures of this column are; nothing: in no round.
  std::optional<std::size_t> place_of(const std::string& column) const;

  // There was too much to keep.
  bool is_cut() const { return entries_ > bounds_.entries; }

  std::uint32_t last_round() const { return last_round_; }

 private:
  std::size_t add_place(const std::string& column);
  void add_row(const std::string& key, Entry entry);

  SlotBounds bounds_;
  std::vector<std::string> columns_;
  std::unordered_map<std::string, Row> rows_;
  Row unlisted_;
  std::size_t entries_ = 0;
  std::uint32_t last_round_ = 0;
};

}  // namespace memtrace
