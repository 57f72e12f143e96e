#include "render/text_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "base/visible.h"
#include "render/cell_text.h"
#include "render/ink.h"
#include "render/text_line.h"
#include "render/text_table.h"

namespace memtrace {
namespace {

constexpr std::size_t kTreeGap = 2;         // between columns
constexpr std::size_t kNarrowestName = 24;  // however deep the tree

struct TreeLine {
  std::string total{};
  std::string share{};
  std::string own{};
  std::string branches{};  // "|  `- "
  const Frame* frame = nullptr;
  std::string text{};  // after the frame, or in its place
};

class Drawing {
 public:
  explicit Drawing(const CallTree& tree) : tree_(tree) {
    for (const CallNode& top : tree.root.children) {
      if (&top != &tree.root.children.front() && tree.root.children.size() > 1) {
        lines_.emplace_back();
      }
      draw(top, "", "");
    }
    if (tree.root.other_count > 0) {
      lines_.emplace_back();
      draw_others(tree.root, "");
    }
  }

  const std::vector<TreeLine>& lines() const { return lines_; }

 private:
  // `first` is in front of the node's own line, `rest` in front of all below it.
  void draw(const CallNode& node, const std::string& first, const std::string& rest) {
    const CallNode* last = &node;
    add(*last, first);
    lines_.back().total = figure(node.total);
    lines_.back().share = share(node.total);
    while (last->own == 0 && last->other_count == 0 && last->children.size() == 1) {
      last = &last->children.front();
      add(*last, rest);
    }
    if (last->own > 0) {
      lines_.back().own = figure(last->own);
    }
    for (const CallNode& child : last->children) {
      const bool is_last = &child == &last->children.back() && last->other_count == 0;
      draw(child, rest + (is_last ? "`- " : "|- "), rest + (is_last ? "   " : "|  "));
    }
    if (last->other_count > 0) {
      draw_others(*last, rest + "`- ");
    }
  }

  void draw_others(const CallNode& node, const std::string& branches) {
    lines_.push_back({.total = figure(node.other_total),
                      .share = share(node.other_total),
                      .branches = branches,
                      .text = "(" + counted(node.other_count, "other", "others") + ")"});
  }

  void add(const CallNode& node, const std::string& branches) {
    lines_.push_back({.branches = branches,
                      .frame = &node.frame,
                      .text = node.is_recursive ? " (recursive)" : ""});
  }

  std::string figure(std::uint64_t value) const { return print_figure(tree_.figure.unit, value); }

  std::string share(std::uint64_t value) const {
    return fmt::format("{:.1f}%",
                       100 * static_cast<double>(value) / static_cast<double>(tree_.whole));
  }

  const CallTree& tree_;
  std::vector<TreeLine> lines_;
};

// Columns of figures, as wide as the widest of them; the branches begin behind them.
struct Widths {
  std::size_t total = 0;
  std::size_t share = 0;
  std::size_t own = 0;

  void fit(const TreeLine& line) {
    total = std::max(total, width_of(line.total));
    share = std::max(share, width_of(line.share));
    own = std::max(own, width_of(line.own));
  }

  std::size_t sum() const {
    return total + kTreeGap + share + kTreeGap + (own == 0 ? 0 : own + kTreeGap);
  }
};

std::string tree_line(const TreeLine& line, const Widths& widths, std::size_t width) {
  const std::string gap(kTreeGap, ' ');
  std::string text = pad_left(line.total, widths.total) + gap + pad_left(line.share, widths.share);
  text += gap + (widths.own == 0 ? "" : pad_left(line.own, widths.own) + gap) + line.branches;
  if (line.frame != nullptr) {
    const std::size_t used = width_of(text) + width_of(line.text);
    text += print_frame(*line.frame, std::max(width - std::min(width, used), kNarrowestName));
  }
  text += line.text;
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

void print_tree(const Report& report, const CallTree& tree, std::size_t width, std::ostream& out) {
  const bool is_caller_first = tree.order == TreeOrder::Caller;
  out << visible(tree.title) << (is_caller_first ? ", callers first" : ", callees first") << '\n';
  if (tree.root.total == 0) {
    out << "(no rows)\n";
  }
  const Drawing drawing(tree);
  std::vector<TreeLine> lines = drawing.lines();
  Widths widths;
  TreeLine header{.total = header_of(report, tree.figure), .share = "share"};
  for (TreeLine& line : lines) {
    line.own = is_caller_first ? line.own : "";
    header.own = is_caller_first ? "own" : "";
    widths.fit(line);
  }
  widths.fit(header);
  if (!lines.empty()) {
    out << inked(tree_line(header, widths, width), Ink::Header, out) << '\n';
  }
  for (const TreeLine& line : lines) {
    out << tree_line(line, widths, width) << '\n';
  }
  for (const std::string_view line : split(tree.note, '\n')) {
    for (const std::string& part : wrap(visible(line), width, 2)) {
      out << part << (part.empty() ? "" : "\n");
    }
  }
}

}  // namespace memtrace
