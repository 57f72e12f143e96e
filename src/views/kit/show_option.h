// --show COLUMN,...: which of a view's figures its table has.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "views/kit/group_by.h"
#include "views/view.h"

namespace memtrace {

inline constexpr std::string_view kShowOption = "show";

// The names given with --show, "all" included. Error: Usage, one that is not among `known`.
Result<std::vector<std::string>> read_columns(const ViewOptions& options,
                                              const std::vector<std::string>& known);

// The figures that were asked for in that order, or else the first `usual_count` of them.
template <typename Cost>
Result<std::vector<Figure<Cost>>> choose_figures(const ViewOptions& options,
                                                 std::span<const Figure<Cost>> all,
                                                 std::size_t usual_count) {
  if (!options.own.contains(std::string(kShowOption))) {
    const auto usual = all.first(usual_count);
    return std::vector<Figure<Cost>>(usual.begin(), usual.end());
  }
  std::vector<std::string> known;
  for (const Figure<Cost>& figure : all) {
    known.emplace_back(figure.name);
  }
  auto wanted = read_columns(options, known);
  if (!wanted.ok()) {
    return wanted.take_error();
  }
  std::vector<Figure<Cost>> figures;
  for (const std::string& name : wanted.value()) {
    figures.push_back(*std::ranges::find(all, std::string_view(name), &Figure<Cost>::name));
  }
  return figures;
}

template <typename Cost>
bool has_figure(const std::vector<Figure<Cost>>& figures, std::string_view name) {
  return std::ranges::find(figures, name, &Figure<Cost>::name) != figures.end();
}

// The table's own column to sort by, or the first figure where that is not shown.
void sort_by(Table& table, std::string_view column);

}  // namespace memtrace
