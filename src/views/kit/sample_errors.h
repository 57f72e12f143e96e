// The columns that say how far the figures of sampled rows may be off: of the first count and of
// the first sum of bytes (report/error_bars.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "report/error_bars.h"
#include "report/report.h"
#include "report/shares.h"
#include "tracepoints/event/event.h"
#include "views/kit/keyed_rows.h"
#include "views/kit/sample_spread.h"
#include "views/kit/sums.h"

namespace memtrace {

namespace sample_parts {

// What cannot be taken apart into figures has no errors.
struct NoSpreads {};

template <typename Cost>
constexpr bool has_figures() {
  if constexpr (Sums<Cost> && std::is_default_constructible_v<Cost>) {
    return sums_parts::figure_count<Cost>() > 0 &&
           sums_parts::figure_count<Cost>() <= sums_parts::kMaxFigures;
  } else {
    return false;
  }
}

}  // namespace sample_parts

template <typename Cost>
class SampleErrors {
 public:
  static constexpr bool kKnown = sample_parts::has_figures<Cost>();

  // The row, of these, is about to get what a sampled event adds.
  void expect(const KeyedRows<Cost>& rows,
              const Cost& cost,
              std::uint64_t weight,
              const Sampling& sampling) {
    if constexpr (kKnown) {
      if (!spreads_) {
        spreads_.emplace();
      }
      spreads_->expect(rows.row_of(cost),
                       cost,
                       {.weight = static_cast<double>(weight),
                        .share = static_cast<double>(sampling.window_share),
                        .window = sampling.window});
    }
  }

  // It has got it.
  void settle(const KeyedRows<Cost>& rows) {
    if constexpr (kKnown) {
      if (spreads_) {
        spreads_->settle(rows);
      }
    }
  }

  bool empty() const { return !spreads_; }

  void merge(std::size_t row, const SampleErrors& others, std::size_t other_row) {
    if constexpr (kKnown) {
      if (!spreads_) {
        spreads_.emplace();
      }
      spreads_->merge(row, *others.spreads_, other_row);
    }
  }

  // Behind the table's figures, which have columns already.
  template <typename Figures>
  void add_columns(const Figures& figures, Table& table) {
    if (empty()) {
      return;
    }
    for (const auto& [unit, name] :
         {Named{Unit::Count, kErrorName}, {Unit::Bytes, kBytesErrorName}}) {
      const auto found = std::ranges::find_if(figures, [wanted = unit](const auto& figure) {
        return figure.unit == wanted && is_amount({std::string(figure.name), figure.unit});
      });
      if (found != std::end(figures)) {
        figures_.push_back(static_cast<std::size_t>(found - std::begin(figures)));
        table.columns.push_back({name, Unit::Percent});
      }
    }
  }

  // By number, of the columns that were added.
  const std::vector<std::size_t>& figures() const { return figures_; }

  // In percent of the figure. Blank where that is 0.
  template <typename AnyFigure, typename Context>
  Cell cell(std::size_t row,
            const Cost& cost,
            const AnyFigure& figure,
            const Context& context) const {
    Cell error;
    if constexpr (kKnown) {
      constexpr double kScale = 1024;  // whole numbers stand for fractions
      constexpr double kPercent = 100;
      const Cell value = figure.of(cost, context);
      const Cell off = figure.of(spreads_->deviations(row, kScale * kErrorDeviations), context);
      const auto* whole = std::get_if<std::uint64_t>(&value);
      const auto* part = std::get_if<std::uint64_t>(&off);
      if (whole != nullptr && part != nullptr && *whole > 0) {
        error = kPercent * static_cast<double>(*part) / kScale / static_cast<double>(*whole);
      }
    }
    return error;
  }

 private:
  struct Named {
    Unit unit;
    const char* name;
  };

  // Of costs without figures nothing would be left of the type.
  template <bool IsKnown, typename Of>
  struct SpreadsOf {
    using Type = RowSpreads<Of>;
  };

  template <typename Of>
  struct SpreadsOf<false, Of> {
    using Type = sample_parts::NoSpreads;
  };

  std::optional<typename SpreadsOf<kKnown, Cost>::Type> spreads_;
  std::vector<std::size_t> figures_;
};

}  // namespace memtrace
