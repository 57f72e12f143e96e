// --hist: how values are distributed in each row, by powers of two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/report.h"
#include "views/kit/histogram.h"
#include "views/kit/keyed_rows.h"
#include "views/kit/keys.h"
#include "views/view.h"

namespace memtrace {

inline constexpr ViewOption kHistOption{
    "hist", "", "below each row, how its values are distributed, by powers of two"};

class KeyedHistograms {
 public:
  explicit KeyedHistograms(std::size_t key_count) : key_count_(key_count), rows_(key_count) {}

  void add(const KeyWords& words, std::uint64_t value, std::uint64_t weight) {
    rows_[words].add(value, weight);
  }

  // Keys: as GroupBy has them, whose table this is. Nothing is left here.
  template <typename Keys, typename Context>
  void move_into(Table& table, const Histogram& like, const Keys& keys, const Context& context) {
    std::map<std::vector<Cell>, ValueHistogram> by_cells;  // rows may turn out to be one
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const KeyWords words = rows_.keys(row);
      by_cells[keys.cells(keys.needs_resolving() ? keys.resolve_late(words, context) : words,
                          context)] += rows_.cost(row);
    }
    for (const auto& [cells, values] : by_cells) {
      table.histograms.push_back({cells, values.histogram(like.title, like.unit)});
    }
    rows_ = KeyedRows<ValueHistogram>(key_count_);
  }

 private:
  std::size_t key_count_ = 0;
  KeyedRows<ValueHistogram> rows_;
};

// Of a view that takes --hist and has one quantity to distribute. Without the option nothing is
// kept.
class AskedHistograms {
 public:
  // `title`: "latency", "sizes".
  AskedHistograms(const ViewOptions& options,
                  std::size_t key_count,
                  std::string_view title,
                  Unit unit)
      : like_{.title = std::string(title), .unit = unit} {
    if (options.own.contains(std::string(kHistOption.name))) {
      rows_.emplace(key_count);
    }
  }

  template <typename Keys, typename Subject>
  void add(const Keys& keys, const Subject& subject, std::uint64_t value, std::uint64_t weight) {
    if (rows_) {
      rows_->add(keys.of(subject), value, weight);
    }
  }

  void add_at(const KeyWords& words, std::uint64_t value, std::uint64_t weight) {
    if (rows_) {
      rows_->add(words, value, weight);
    }
  }

  // As KeyedHistograms::move_into.
  template <typename Keys, typename Context>
  void move_into(Table& table, const Keys& keys, const Context& context) {
    if (rows_) {
      rows_->move_into(table, like_, keys, context);
    }
  }

 private:
  Histogram like_;
  std::optional<KeyedHistograms> rows_;
};

}  // namespace memtrace
