// How far the sums of rows may be off where only some of the events were recorded.
//
// An event that counts for w others adds w x to a sum. Where it was watched all the time, the
// estimate is that of Horvitz and Thompson, and its variance is the sum of (w x)^2 (1 - 1/w)
// (W. G. Cochran, Sampling Techniques, 3rd edition, 9A.7, for independent choices).
//
// Where it was watched in windows, one slot of k in each cycle (perf/pace/event_gates.h), there are
// two stages: cycles of slots, and p = w/k events of a slot. With Y(i), what the window of cycle i
// adds to the sum, the variance is
//
//   (1 - 1/k) / 2 * sum of (Y(i) - Y(i-1))^2  +  1/k * sum of (w x)^2 (1 - 1/p)
//
// (Cochran 10.3; differences of neighbours for the variance between slots, because each cycle has
// one slot: K. M. Wolter, Introduction to Variance Estimation, 2nd edition, 8.2). A window without
// events adds 0, and so do the cycles before the first and behind the last one of a row, so that
// the variance is rather too large than too small.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "views/kit/keyed_rows.h"
#include "views/kit/sums.h"

namespace memtrace {

// An event, or what a view makes of one, that says how it was sampled.
template <typename Subject>
concept SampledSubject = requires(const Subject& subject) {
  subject.weight;
  subject.sampling.window_share;
};

// Of one sum.
class SumSpread {
 public:
  struct Sampling {
    double weight = 1;
    double share = 1;
    std::uint64_t window = 0;
  };

  void add(double amount, const Sampling& sampling) {
    const double period = std::max(1.0, sampling.weight / sampling.share);
    within_ += amount * amount * (1 - 1 / period) / sampling.share;
    if (sampling.share > 1) {
      enter(sampling.window);
      in_window_ += amount * std::sqrt(1 - 1 / sampling.share);
    }
  }

  // Two sums become one: at worst both vary alike.
  void add(const SumSpread& other) {
    const double deviation = std::sqrt(variance()) + std::sqrt(other.variance());
    *this = {};
    within_ = deviation * deviation;
  }

  double variance() const {
    const double last = square(in_window_ - before_) + square(in_window_);
    return within_ + (differences_ + last) / 2;
  }

 private:
  static double square(double value) { return value * value; }

  void enter(std::uint64_t window) {
    if (window == window_) {
      return;
    }
    differences_ += square(in_window_ - before_);
    before_ = in_window_;
    if (window != window_ + 1) {
      differences_ += square(before_);
      before_ = 0;
    }
    in_window_ = 0;
    window_ = window;
  }

  double within_ = 0;
  double differences_ = 0;  // squares, up to the window before this one
  double before_ = 0;       // what the window before this one added
  double in_window_ = 0;    // what this one has added
  std::uint64_t window_ = 0;
};

// Of all sums of all rows. It compares a row's figures before and after an event.
template <typename Cost>
class RowSpreads {
 public:
  // The row is about to get what an event adds.
  void expect(std::size_t row, const Cost& cost, const SumSpread::Sampling& sampling) {
    row_ = row;
    before_ = whole_figures(cost);
    sampling_ = sampling;
  }

  // It has got it.
  void settle(const KeyedRows<Cost>& rows) {
    if (!row_) {
      return;
    }
    spreads_.resize(std::max(spreads_.size(), rows.size()));
    const Figures now = whole_figures(rows.cost(*row_));
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i] != before_[i]) {
        spread_of(*row_, i).add(static_cast<double>(now[i]) - static_cast<double>(before_[i]),
                                sampling_);
      }
    }
    row_.reset();
  }

  void merge(std::size_t row, const RowSpreads& others, std::size_t other_row) {
    spreads_.resize(std::max(spreads_.size(), row + 1));
    if (other_row >= others.spreads_.size()) {
      return;
    }
    for (const auto& [figure, spread] : others.spreads_[other_row]) {
      spread_of(row, figure).add(spread);
    }
  }

  // A cost whose whole figures are the standard deviations of the row's, times `scale`.
  Cost deviations(std::size_t row, double scale) const {
    Cost cost{};
    if (row >= spreads_.size()) {
      return cost;
    }
    Figures figures{};
    for (const auto& [figure, spread] : spreads_[row]) {
      figures[figure] =
          static_cast<std::uint64_t>(std::llround(scale * std::sqrt(spread.variance())));
    }
    std::size_t next = 0;
    std::apply([&](auto&... figure) { (set(figure, figures[next++]), ...); },
               sums_parts::figures(cost));
    return cost;
  }

 private:
  using Figures = std::array<std::uint64_t, sums_parts::figure_count<Cost>()>;

  // Others, such as the largest of all, are no sums.
  template <typename Figure>
  static std::uint64_t whole(const Figure& figure) {
    if constexpr (std::is_same_v<Figure, std::uint64_t>) {
      return figure;
    } else {
      return 0;
    }
  }

  template <typename Figure>
  static void set(Figure& figure, std::uint64_t value) {
    if constexpr (std::is_same_v<Figure, std::uint64_t>) {
      figure = value;
    }
  }

  static Figures whole_figures(const Cost& cost) {
    return std::apply([](const auto&... figure) { return Figures{whole(figure)...}; },
                      sums_parts::figures(cost));
  }

  // Few of a row's figures are sums that events change.
  SumSpread& spread_of(std::size_t row, std::size_t figure) {
    auto& spreads = spreads_[row];
    const auto known = std::ranges::find(spreads, figure, &Spread::first);
    return known != spreads.end() ? known->second
                                  : spreads.emplace_back(figure, SumSpread()).second;
  }

  using Spread = std::pair<std::size_t, SumSpread>;

  std::vector<std::vector<Spread>> spreads_;  // by row
  std::optional<std::size_t> row_;            // that is expected to change
  Figures before_{};
  SumSpread::Sampling sampling_;
};

}  // namespace memtrace
