// What rows add up. A cost is a plain struct of figures; += adds one cost to another, figure by
// figure, so that no view lists its figures a second time and none can be forgotten.
//
//   struct CallCost {
//     std::uint64_t count = 0;
//     Largest longest_ns;
//     Durations durations;
//   };
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace memtrace {

// A figure of which a sum keeps the largest.
struct Largest {
  std::uint64_t value = 0;

  Largest& operator+=(Largest other) {
    value = std::max(value, other.value);
    return *this;
  }
};

namespace sums_parts {

inline constexpr std::size_t kMaxFigures = 15;

// Converts to a figure of any type: what a struct can be made of counts its figures.
struct AnyFigure {
  template <typename Figure>
  operator Figure() const;  // NOLINT(google-explicit-constructor)
};

template <typename Cost, std::size_t... Index>
constexpr bool takes(std::index_sequence<Index...> /*count*/) {
  return requires {
    Cost{(static_cast<void>(Index), AnyFigure())...};
  };
}

template <typename Cost, std::size_t Most = kMaxFigures + 1>
constexpr std::size_t figure_count() {
  if constexpr (Most == 0 || takes<Cost>(std::make_index_sequence<Most>())) {
    return Most;
  } else {
    return figure_count<Cost, Most - 1>();
  }
}

// References to the figures. C++20 takes a struct apart only by as many names as it has members.
template <std::size_t Count, typename Cost>
constexpr auto few_figures(Cost& cost) {
  if constexpr (Count == 1) {
    auto& [a] = cost;
    return std::tie(a);
  } else if constexpr (Count == 2) {
    auto& [a, b] = cost;
    return std::tie(a, b);
  } else if constexpr (Count == 3) {
    auto& [a, b, c] = cost;
    return std::tie(a, b, c);
  } else if constexpr (Count == 4) {
    auto& [a, b, c, d] = cost;
    return std::tie(a, b, c, d);
  } else if constexpr (Count == 5) {
    auto& [a, b, c, d, e] = cost;
    return std::tie(a, b, c, d, e);
  } else if constexpr (Count == 6) {
    auto& [a, b, c, d, e, f] = cost;
    return std::tie(a, b, c, d, e, f);
  } else {
    auto& [a, b, c, d, e, f, g] = cost;
    return std::tie(a, b, c, d, e, f, g);
  }
}

template <std::size_t Count, typename Cost>
constexpr auto many_figures(Cost& cost) {
  if constexpr (Count == 8) {
    auto& [a, b, c, d, e, f, g, h] = cost;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (Count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = cost;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (Count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = cost;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (Count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = cost;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (Count == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = cost;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (Count == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = cost;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (Count == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = cost;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = cost;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  }
}

template <typename Cost>
constexpr auto figures(Cost& cost) {
  constexpr std::size_t kCount = figure_count<std::remove_const_t<Cost>>();
  static_assert(kCount > 0 && kCount <= kMaxFigures, "a cost has 1 to 15 figures");
  if constexpr (kCount < 8) {
    return few_figures<kCount>(cost);
  } else {
    return many_figures<kCount>(cost);
  }
}

}  // namespace sums_parts

template <typename Cost>
concept Sums = std::is_class_v<Cost> && std::is_aggregate_v<Cost>;

// A figure is added by its own +=.
template <Sums Cost>
constexpr Cost& operator+=(Cost& sum, const std::type_identity_t<Cost>& cost) {
  const auto parts = sums_parts::figures(cost);
  const auto add = [&parts](auto&... figure) {
    std::apply([&](const auto&... part) { ((figure += part), ...); }, parts);
  };
  std::apply(add, sums_parts::figures(sum));
  return sum;
}

}  // namespace memtrace
