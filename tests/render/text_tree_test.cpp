#include "render/text_tree.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/text.h"
#include "render/text_line.h"

namespace memtrace {
namespace {

CallNode node(const std::string& function,
              std::uint64_t total,
              std::uint64_t own,
              std::vector<CallNode> children = {}) {
  return {
      .frame = {.function = function}, .total = total, .own = own, .children = std::move(children)};
}

CallTree tree(std::vector<CallNode> tops, TreeOrder order = TreeOrder::Caller) {
  CallTree made{.title = "by stack", .figure = {"bytes", Unit::Bytes}, .order = order};
  for (const CallNode& top : tops) {
    made.whole += top.total;
  }
  made.root = node("", made.whole, 0, std::move(tops));
  return made;
}

std::string printed(const CallTree& tree, std::size_t width = 100) {
  std::ostringstream out;
  print_tree(Report(), tree, width, out);
  return out.str();
}

TEST(TextTree, chains_stand_below_each_other_and_branches_beside) {
  CallNode parse = node("parse", 600, 0, {node("new", 600, 0, {node("malloc", 600, 600)})});
  parse.is_recursive = true;
  CallTree example =
      tree({node("_start", 1000, 0, {node("main", 1000, 100, {parse, node("malloc", 200, 200)})})});
  CallNode& main = example.root.children[0].children[0];
  main.other_count = 3;
  main.other_total = 100;
  EXPECT_EQ(printed(example),
            "by stack, callers first\n"
            " bytes   share    own\n"
            "1000 B  100.0%         _start\n"
            "                100 B  main\n"
            " 600 B   60.0%         |- parse (recursive)\n"
            "                       |  new\n"
            "                600 B  |  malloc\n"
            " 200 B   20.0%  200 B  |- malloc\n"
            " 100 B   10.0%         `- (3 others)\n");
}

TEST(TextTree, tops_stand_apart) {
  CallTree example = tree({node("a", 75, 75), node("b", 25, 25)});
  EXPECT_EQ(printed(example),
            "by stack, callers first\n"
            "bytes  share   own\n"
            " 75 B  75.0%  75 B  a\n"
            "\n"
            " 25 B  25.0%  25 B  b\n");
}

TEST(TextTree, with_the_innermost_function_first_nothing_is_own) {
  EXPECT_EQ(
      printed(tree({node("malloc", 4, 0, {node("a", 3, 3), node("b", 1, 1)})}, TreeOrder::Callee)),
      "by stack, callees first\n"
      "bytes   share\n"
      "  4 B  100.0%  malloc\n"
      "  3 B   75.0%  |- a\n"
      "  1 B   25.0%  `- b\n");
}

TEST(TextTree, without_rows_it_says_so) {
  EXPECT_EQ(printed(tree({})), "by stack, callers first\n(no rows)\n");
}

TEST(TextTree, long_names_are_cut_and_deep_ones_keep_a_part) {
  CallNode deep = node(std::string(200, 'x'), 1, 1);
  for (int i = 0; i < 60; ++i) {
    deep = node("f", 2, 1, {deep});
  }
  const std::string text = printed(tree({deep, node(std::string(200, 'y'), 1, 1)}), 80);
  for (const std::string_view line : split(text, '\n')) {
    EXPECT_LE(width_of(line), 80U + 60 * 3);
  }
  EXPECT_NE(text.find("yyy...yyy"), std::string::npos);
  EXPECT_NE(text.find("xxx...xxx"), std::string::npos);
}

}  // namespace
}  // namespace memtrace
