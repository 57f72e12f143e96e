// Stacks as a tree of calls: how much comes through each function, and how much ends in it.
//
//   main ── parse ── malloc   6          main 9 ─┬─ parse 6 ── malloc 6
//   main ── malloc            3                  └─ malloc 3
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/namer.h"
#include "report/report.h"

namespace memtrace {

class CallTreeBuilder {
 public:
  explicit CallTreeBuilder(TreeOrder order) : order_(order), nodes_(1) {}

  // The keys stand above the stack, also where the innermost function comes first.
  void add(const std::vector<std::string>& keys,
           const Frames& innermost_first,
           std::uint64_t weight);

  // Children that are less than this part of the whole are added up in their parent.
  CallNode take(double least_share);

 private:
  struct Node {
    Frame frame;
    std::uint64_t total = 0;
    std::uint64_t own = 0;
    bool is_recursive = false;
    std::uint32_t name = 0;
    std::vector<std::uint32_t> children;
  };

  std::uint32_t name_of(const Frame& frame);
  std::uint32_t called(std::uint32_t from, const Frame& frame, std::uint64_t weight);
  std::uint32_t child(std::uint32_t parent, std::uint32_t name, const Frame& frame);
  CallNode finished(std::uint32_t node, std::uint64_t least) const;

  TreeOrder order_;
  std::vector<Node> nodes_;                               // the first is the root
  std::unordered_map<std::string, std::uint32_t> names_;  // from 1 on; lines are no part of them
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and name
};

// Rows with a stack among their keys, whose figures are parts of a whole (report/shares.h).
bool can_be_tree(const Table& table);

// Of such a table, with all of its rows.
CallTree tree_of(const Table& table, TreeOrder order, Namer& namer);

// "caller", "callee"; nothing for other words.
std::optional<TreeOrder> tree_order_of(std::string_view word);

}  // namespace memtrace
