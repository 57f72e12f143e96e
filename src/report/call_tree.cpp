#include "report/call_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/layers.h"
#include "report/shares.h"

namespace memtrace {
namespace {

constexpr double kLeastShare = 0.005;

std::optional<std::size_t> stack_key(const Table& table) {
  for (std::size_t i = 0; i < table.key_count; ++i) {
    if (table.columns[i].unit == Unit::Stack) {
      return i;
    }
  }
  return std::nullopt;
}

// "bash", "pid 12": what a row's other keys are called above its stack.
std::string key_text(const Column& column, const Cell& cell, Namer& namer) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return text->empty() ? "[unknown]" : *text;
  }
  if (const auto* place = std::get_if<LocationId>(&cell); place != nullptr && place->valid()) {
    const Frames& frames = namer.location(*place);
    return frames.empty() ? "[unknown]" : frames.front().function;
  }
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    return column.unit == Unit::Address ? fmt::format("{} 0x{:x}", column.name, *number)
                                        : fmt::format("{} {}", column.name, *number);
  }
  const auto* number = std::get_if<std::int64_t>(&cell);
  return number == nullptr ? column.name + " [unknown]"
                           : fmt::format("{} {}", column.name, *number);
}

std::vector<std::string> keys_above(const Table& table,
                                    const std::vector<Cell>& row,
                                    std::size_t stack,
                                    Namer& namer) {
  std::vector<std::string> keys;
  for (std::size_t key = 0; key < table.key_count; ++key) {
    if (key != stack && table.columns[key].name != kLayerColumn) {
      keys.push_back(key_text(table.columns[key], row[key], namer));
    }
  }
  return keys;
}

// Innermost first, with the kernel's layers below a program's stack as frames of their own.
Frames with_layers(const Table& table, const std::vector<Cell>& row, const Frames& frames) {
  Frames all;
  for (std::size_t key = 0; key < table.key_count; ++key) {
    const auto* layers = std::get_if<std::string>(&row[key]);
    if (layers == nullptr || table.columns[key].name != kLayerColumn) {
      continue;
    }
    for (std::string& frame : layer_frames(*layers)) {
      all.insert(all.begin(), {.function = std::move(frame), .kernel = true});
    }
  }
  all.insert(all.end(), frames.begin(), frames.end());
  return all;
}

// What several calls of a function have in common: not always the line.
void make_common(Frame& shown, const Frame& other) {
  if (shown.file != other.file) {
    shown.file.clear();
  }
  if (shown.line != other.line || shown.file.empty()) {
    shown.line = 0;
  }
  shown.inlined = shown.inlined && other.inlined;
}

bool is_larger(const CallNode& left, const CallNode& right) {
  return left.total != right.total ? left.total > right.total
                                   : left.frame.function < right.frame.function;
}

}  // namespace

std::uint32_t CallTreeBuilder::name_of(const Frame& frame) {
  const std::string name = frame.function + '\n' + frame.module + (frame.kernel ? "\nk" : "");
  return names_.try_emplace(name, static_cast<std::uint32_t>(names_.size() + 1)).first->second;
}

std::uint32_t CallTreeBuilder::child(std::uint32_t parent, std::uint32_t name, const Frame& frame) {
  const std::uint64_t key = (std::uint64_t{parent} << 32U) | name;
  const auto [found, is_new] =
      children_.try_emplace(key, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) {
    nodes_[parent].children.push_back(found->second);
    nodes_.push_back({.frame = frame, .name = name});
  } else {
    make_common(nodes_[found->second].frame, frame);
  }
  return found->second;
}

// A function that calls itself stays the same node: what it costs is counted once.
std::uint32_t CallTreeBuilder::called(std::uint32_t from,
                                      const Frame& frame,
                                      std::uint64_t weight) {
  const std::uint32_t name = name_of(frame);
  if (nodes_[from].name == name) {
    nodes_[from].is_recursive = true;
    make_common(nodes_[from].frame, frame);
    return from;
  }
  const std::uint32_t to = child(from, name, frame);
  nodes_[to].total += weight;
  return to;
}

void CallTreeBuilder::add(const std::vector<std::string>& keys,
                          const Frames& innermost_first,
                          std::uint64_t weight) {
  std::uint32_t at = 0;
  nodes_[at].total += weight;
  for (const std::string& key : keys) {
    at = called(at, {.function = key, .module = "\n"}, weight);  // of no function's name
  }
  if (innermost_first.empty()) {
    at = called(at, {.function = "(no stack)"}, weight);
  }
  const std::size_t count = innermost_first.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_outermost_first = order_ == TreeOrder::Caller;
    at = called(at, innermost_first[is_outermost_first ? count - 1 - i : i], weight);
  }
  nodes_[at].own += weight;
}

CallNode CallTreeBuilder::finished(std::uint32_t node, std::uint64_t least) const {
  const Node& from = nodes_[node];
  CallNode made{
      .frame = from.frame, .total = from.total, .own = from.own, .is_recursive = from.is_recursive};
  if (made.frame.module == "\n") {
    made.frame.module.clear();
  }
  for (const std::uint32_t child : from.children) {
    if (nodes_[child].total < least) {
      ++made.other_count;
      made.other_total += nodes_[child].total;
    } else {
      made.children.push_back(finished(child, least));
    }
  }
  std::sort(made.children.begin(), made.children.end(), is_larger);
  return made;
}

CallNode CallTreeBuilder::take(double least_share) {
  const auto least = std::ceil(least_share * static_cast<double>(nodes_.front().total));
  CallNode root = finished(0, static_cast<std::uint64_t>(least));
  *this = CallTreeBuilder(order_);
  return root;
}

bool can_be_tree(const Table& table) {
  return !table.fixed && stack_key(table) && share_column(table);
}

CallTree tree_of(const Table& table, TreeOrder order, Namer& namer) {
  const std::size_t stack = *stack_key(table);
  const std::size_t figure = *share_column(table);
  CallTreeBuilder builder(order);
  for (const auto& row : table.rows) {
    const auto* id = std::get_if<StackId>(&row[stack]);
    const bool has_stack = id != nullptr && id->valid();
    const auto* weight = std::get_if<std::uint64_t>(&row[figure]);
    if (weight != nullptr && *weight != 0) {
      builder.add(keys_above(table, row, stack, namer),
                  with_layers(table, row, has_stack ? namer.stack(*id) : Frames()),
                  *weight);
    }
  }
  return {.title = table.title,
          .figure = table.columns[figure],
          .order = order,
          .root = builder.take(kLeastShare),
          .whole = table.whole,
          .note = table.note};
}

std::optional<TreeOrder> tree_order_of(std::string_view word) {
  if (word == "caller") {
    return TreeOrder::Caller;
  }
  return word == "callee" ? std::optional(TreeOrder::Callee) : std::nullopt;
}

}  // namespace memtrace
