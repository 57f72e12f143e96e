#include "render/profile/stack_profile.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "base/visible.h"
#include "render/cell_names.h"
#include "render/cell_text.h"
#include "report/layers.h"
#include "report/row_order.h"
#include "report/shares.h"

namespace memtrace {
namespace {

constexpr std::int64_t kMostWeight = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kUnknown = "[unknown]";

// The columns of a table that make a profile.
struct ProfileTable {
  const Report& report;
  const Table& table;
  std::optional<std::size_t> stack{};  // without: the text keys are the steps
  std::vector<std::size_t> weights{};
};

std::optional<std::size_t> stack_column(const Table& table) {
  const auto found = std::ranges::find(table.columns, Unit::Stack, &Column::unit);
  if (found == table.columns.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - table.columns.begin());
}

bool has_text_key(const Table& table) {
  return std::ranges::any_of(std::span(table.columns).first(table.key_count),
                             [](const Column& column) { return column.unit == Unit::Text; });
}

std::string_view main_weight(const Table& table) {
  return table.weight.empty() ? "count" : std::string_view{table.weight};
}

std::vector<std::size_t> weight_columns(const Table& table) {
  std::vector<std::size_t> columns;
  for (std::size_t i = table.key_count; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const bool is_cost = column.unit == Unit::Count || column.unit == Unit::Bytes ||
                         column.unit == Unit::Nanoseconds;
    if ((is_cost && can_be_summed(column)) || column.name == main_weight(table)) {
      columns.push_back(i);
    }
  }
  return columns;
}

std::optional<ProfileTable> choose_table(const Report& report) {
  std::optional<ProfileTable> fallback;
  for (const Table& table : report.tables) {
    if (!find_column(table, main_weight(table))) {
      continue;
    }
    if (const auto stack = stack_column(table)) {
      return ProfileTable{report, table, stack, weight_columns(table)};
    }
    if (!fallback && has_text_key(table)) {
      fallback.emplace(ProfileTable{report, table, std::nullopt, weight_columns(table)});
    }
  }
  return fallback;
}

std::int64_t weight_of(const Cell& cell) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    return static_cast<std::int64_t>(std::min(*number, static_cast<std::uint64_t>(kMostWeight)));
  }
  if (const auto* number = std::get_if<std::int64_t>(&cell)) {
    return *number;
  }
  const auto* number = std::get_if<double>(&cell);
  const bool fits = number != nullptr && std::abs(*number) < static_cast<double>(kMostWeight);
  return fits ? std::llround(*number) : 0;
}

ProfileStep step_of(const Frame& frame) {
  return {.name = visible(frame.function), .frame = &frame};
}

void add_text_key(const Report& report, const Cell& cell, const Column& key, WeightedStack& row) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    const std::string shown = text->empty() ? std::string(kUnknown) : visible(*text);
    row.labels.push_back({key.name, shown});
    row.steps.push_back({.name = shown, .is_label = true});
  } else if (const Frames* frames = frames_of(report, cell); frames && !frames->empty()) {
    row.steps.push_back(step_of(frames->front()));
  } else {
    row.steps.push_back({.name = std::string(kUnknown)});
  }
}

void add_key(const ProfileTable& from, const Cell& cell, const Column& key, WeightedStack& row) {
  // A place in code is part of the stack already.
  const bool is_place = from.stack && std::holds_alternative<LocationId>(cell);
  if (key.unit == Unit::Text && !is_place) {
    add_text_key(from.report, cell, key, row);
  } else if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    row.labels.push_back({key.name, *number});
    row.steps.push_back(
        {.name = visible(key.name + " " + print_figure(key.unit, *number)), .is_label = true});
  }
}

void add_stack(const Frames* frames, WeightedStack& row) {
  if (frames == nullptr || frames->empty()) {
    row.steps.push_back({.name = std::string(kUnknown)});
    return;
  }
  std::transform(frames->rbegin(), frames->rend(), std::back_inserter(row.steps), step_of);
}

// The kernel's layers below the program's stack.
void add_layers(const Table& table, const std::vector<Cell>& cells, WeightedStack& row) {
  for (std::size_t i = 0; i < table.key_count; ++i) {
    const auto* layers = std::get_if<std::string>(&cells[i]);
    if (layers == nullptr || table.columns[i].name != kLayerColumn) {
      continue;
    }
    for (std::string& frame : layer_frames(*layers)) {
      row.steps.push_back({.name = std::move(frame)});
    }
  }
}

WeightedStack stack_of(const ProfileTable& from, const std::vector<Cell>& cells) {
  WeightedStack row;
  for (const std::size_t column : from.weights) {
    row.weights.push_back(weight_of(cells[column]));
  }
  const std::size_t key_count =
      from.stack ? std::min(*from.stack, from.table.key_count) : from.table.key_count;
  for (std::size_t i = 0; i < key_count; ++i) {
    if (from.table.columns[i].name != kLayerColumn) {
      add_key(from, cells[i], from.table.columns[i], row);
    }
  }
  if (from.stack) {
    add_stack(frames_of(from.report, cells[*from.stack]), row);
  }
  add_layers(from.table, cells, row);
  return row;
}

// The one that the reader sorts by, if it adds up; else the table's own.
std::size_t main_kind(const Table& table, const std::vector<WeightKind>& kinds) {
  for (const std::string_view name : {std::string_view{table.sort}, main_weight(table)}) {
    const auto found = std::ranges::find(kinds, name, &WeightKind::name);
    if (found != kinds.end()) {
      return static_cast<std::size_t>(found - kinds.begin());
    }
  }
  return 0;
}

StackProfile profile_of(const ProfileTable& from) {
  StackProfile profile{.report = &from.report, .has_stacks = from.stack.has_value()};
  for (const std::size_t column : from.weights) {
    profile.kinds.push_back({from.table.columns[column].name, from.table.columns[column].unit});
  }
  profile.main_kind = main_kind(from.table, profile.kinds);
  const std::size_t row_count = from.table.rows.size() - (from.table.last_is_rest ? 1 : 0);
  for (const auto& cells : std::span(from.table.rows).first(row_count)) {
    profile.stacks.push_back(stack_of(from, cells));
  }
  return profile;
}

}  // namespace

CodeKind code_kind(const ProfileStep& step) {
  if (step.frame == nullptr || step.frame->module.empty()) {
    return step.frame != nullptr && step.frame->kernel ? CodeKind::Kernel : CodeKind::None;
  }
  if (step.frame->kernel) {
    return CodeKind::Kernel;
  }
  return step.frame->module.find(".so") == std::string::npos ? CodeKind::Program
                                                             : CodeKind::Library;
}

std::int64_t StackProfile::total(std::size_t kind) const {
  std::int64_t sum = 0;
  for (const WeightedStack& stack : stacks) {
    sum += stack.weights[kind];
  }
  return sum;
}

std::vector<StackProfile> stack_profiles(const Report& report) {
  std::vector<StackProfile> profiles;
  if (const auto from = choose_table(report)) {
    profiles.push_back(profile_of(*from));
  }
  for (const Report& nested : report.reports) {
    for (StackProfile& profile : stack_profiles(nested)) {
      profiles.push_back(std::move(profile));
    }
  }
  return profiles;
}

std::string profile_title(const StackProfile& profile) {
  const Report& report = *profile.report;
  return visible(report.title.empty() ? report.view : report.title);
}

std::string profile_title(const StackProfile& profile, std::size_t kind) {
  return visible(profile.report->view) + ": " + visible(profile.kinds[kind].name);
}

}  // namespace memtrace
