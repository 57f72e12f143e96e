// Columns of figures, as data: each says what a row's cost shows in it.
//
//   constexpr auto kFigures = std::to_array<Figure<CallCost>>({
//       figure<&CallCost::count>("count"),
//       figure_if<&CallContext::frees_seen, &CallCost::freed>("freed", Unit::Bytes),
//       mean_figure<&CallCost::bytes, &CallCost::count>("avg_bytes", Unit::Bytes),
//   });
//
// A figure that none of these makes has a lambda of its own: {"net", Unit::Bytes, net_cell}.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "report/report.h"
#include "views/kit/cells.h"
#include "views/kit/durations.h"
#include "views/kit/keys.h"

namespace memtrace {

// Context: CellContext, or what a view derives from it to say which columns are known.
template <typename Cost, typename Context = CellContext>
struct Figure {
  std::string_view name;
  Unit unit = Unit::Count;
  Cell (*of)(const Cost& cost, const Context& context) = nullptr;
};

namespace figures_parts {

// What a path of members, or of functions without arguments, leads to.
template <auto First, auto... Rest, typename Value>
constexpr auto at(const Value& value) {
  if constexpr (sizeof...(Rest) == 0) {
    return std::invoke(First, value);
  } else {
    return at<Rest...>(std::invoke(First, value));
  }
}

// A figure for the cost and the context of the table that it is put into. Maker: a lambda without
// captures.
template <typename Maker>
struct Described {
  std::string_view name;
  Unit unit;

  template <typename Cost, typename Context>
  constexpr operator Figure<Cost, Context>() const {  // NOLINT(google-explicit-constructor)
    return {name, unit, [](const Cost& cost, const Context& context) -> Cell {
              return Maker()(cost, context);
            }};
  }
};

template <typename Maker>
constexpr Described<Maker> describe(std::string_view name, Unit unit, Maker /*maker*/) {
  return {name, unit};
}

}  // namespace figures_parts

// A member of the cost, or what a function of it returns. More than one: a member of the member.
template <auto... Path>
constexpr auto figure(std::string_view name, Unit unit = Unit::Count) {
  return figures_parts::describe(name, unit, [](const auto& cost, const auto& /*context*/) {
    return cell_of(figures_parts::at<Path...>(cost));
  });
}

// Blank unless this member of the context is true.
template <auto Known, auto... Path>
constexpr auto figure_if(std::string_view name, Unit unit = Unit::Count) {
  return figures_parts::describe(name, unit, [](const auto& cost, const auto& context) {
    return when(std::invoke(Known, context), figures_parts::at<Path...>(cost));
  });
}

// Blank where it is 0.
template <auto... Path>
constexpr auto figure_unless_zero(std::string_view name, Unit unit = Unit::Count) {
  return figures_parts::describe(name, unit, [](const auto& cost, const auto& /*context*/) {
    return unless_zero(figures_parts::at<Path...>(cost));
  });
}

// Blank for a mean of nothing, and for a percentage of nothing.
template <auto Sum, auto Count>
constexpr auto mean_figure(std::string_view name, Unit unit) {
  return figures_parts::describe(name, unit, [](const auto& cost, const auto& /*context*/) {
    return quotient_cell(std::invoke(Sum, cost), std::invoke(Count, cost));
  });
}

template <auto Part, auto Whole>
constexpr auto percent_figure(std::string_view name) {
  return figures_parts::describe(
      name, Unit::Percent, [](const auto& cost, const auto& /*context*/) {
        return percent_cell(std::invoke(Part, cost), std::invoke(Whole, cost));
      });
}

template <auto Member>
constexpr auto rate_figure(std::string_view name, Unit unit = Unit::PerSecond) {
  return figures_parts::describe(name, unit, [](const auto& cost, const auto& context) {
    const double seconds = context.seconds();
    Cell rate;
    if (seconds > 0) {
      rate = static_cast<double>(std::invoke(Member, cost)) / seconds;
    }
    return rate;
  });
}

// Of a member that is a Durations: average_ns, max_ns, min_ns or total_ns. Blank where none is
// known.
template <auto Member, auto Value>
constexpr auto latency_figure(std::string_view name) {
  return figures_parts::describe(
      name, Unit::Nanoseconds, [](const auto& cost, const auto& /*context*/) {
        const Durations& durations = std::invoke(Member, cost);
        return when(durations.count() > 0, std::invoke(Value, durations));
      });
}

template <auto Member, std::uint64_t Percent>
constexpr auto percentile_figure(std::string_view name) {
  return figures_parts::describe(
      name, Unit::Nanoseconds, [](const auto& cost, const auto& /*context*/) {
        const Durations& durations = std::invoke(Member, cost);
        return when(durations.has_percentiles(), durations.percentile_ns(Percent));
      });
}

template <auto Member>
constexpr auto average_figure(std::string_view name = "avg_ns") {
  return latency_figure<Member, &Durations::average_ns>(name);
}

template <auto Member>
constexpr auto longest_figure(std::string_view name = "max_ns") {
  return latency_figure<Member, &Durations::max_ns>(name);
}

}  // namespace memtrace
