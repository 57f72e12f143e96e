// --show COLUMN,...: which of a view's figures its table has.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "views/kit/group_by.h"
#include "views/view.h"

namespace memtrace {

inline constexpr std::string_view kShowOption = "show";

constexpr ViewOption show_option(std::string_view help) {
  return {kShowOption, "COLUMN,...", help};
}

// The names given with --show, "all" included. Error: Usage, one that is not among `known`.
Result<std::vector<std::string>> read_columns(const ViewOptions& options,
                                              const std::vector<std::string>& known);

// The figures that were asked for in that order, or else the first `usual_count` of them.
template <typename AnyFigure, std::size_t Count>
Result<std::vector<AnyFigure>> choose_figures(const ViewOptions& options,
                                              const std::array<AnyFigure, Count>& all,
                                              std::size_t usual_count) {
  if (!options.own.contains(std::string(kShowOption))) {
    const auto usual = std::span(all).first(usual_count);
    return std::vector<AnyFigure>(usual.begin(), usual.end());
  }
  std::vector<std::string> known;
  known.reserve(all.size());
  for (const AnyFigure& figure : all) {
    known.emplace_back(figure.name);
  }
  auto wanted = read_columns(options, known);
  if (!wanted.ok()) {
    return wanted.take_error();
  }
  std::vector<AnyFigure> figures;
  for (const std::string& name : wanted.value()) {
    figures.push_back(*std::ranges::find(all, std::string_view{name}, &AnyFigure::name));
  }
  return figures;
}

template <typename AnyFigure>
bool has_figure(const std::vector<AnyFigure>& figures, std::string_view name) {
  return std::ranges::find(figures, name, &AnyFigure::name) != figures.end();
}

}  // namespace memtrace
