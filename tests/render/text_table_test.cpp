#include "render/text_table.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/text.h"
#include "render/text_line.h"
#include "support/fake_namer.h"

namespace memtrace {
namespace {

std::string printed(const Table& table, std::size_t width = 100, const Report& report = Report()) {
  std::ostringstream out;
  print_table(report, table, width, out);
  return out.str();
}

Table wide_table(std::size_t comm_size) {
  return {.title = std::string(200, 't'),
          .columns = {{"comm", Unit::Text}, {"cache", Unit::Text}, {"count", Unit::Count}},
          .key_count = 2,
          .rows = {{std::string(comm_size, 'c'), "dentry", std::uint64_t{18446744073709551615U}}}};
}

TEST(TextTable, keys_are_to_the_left_and_figures_to_the_right) {
  EXPECT_EQ(printed({.title = "T",
                     .columns = {{"comm", Unit::Text}, {"pid", Unit::Number}, {"n", Unit::Count}},
                     .key_count = 2,
                     .rows = {{"bash", std::uint64_t{1}, std::uint64_t{1000}},
                              {"sh", std::uint64_t{12345}, std::uint64_t{1}}}}),
            "T\n"
            "comm  pid        n\n"
            "bash  1      1,000\n"
            "sh    12345      1\n");
}

TEST(TextTable, shares_stand_beside_their_figure) {
  EXPECT_EQ(printed({.columns = {{"comm", Unit::Text}, {"bytes", Unit::Bytes}, {"n", Unit::Count}},
                     .key_count = 1,
                     .rows = {{"bash", std::uint64_t{96}, std::uint64_t{1}},
                              {"sh", Cell(), std::uint64_t{2}},
                              {"other", std::uint64_t{32}, std::uint64_t{3}}},
                     .last_is_rest = true,
                     .share_of = "bytes",
                     .whole = 128}),
            "comm   bytes  share  n\n"
            "bash    96 B  75.0%  1\n"
            "sh         -      -  2\n"
            "other   32 B  25.0%  3\n");
}

class RepeatedStacks : public testing::Test {
 protected:
  void add(std::uint32_t stack, const std::vector<Frame>& frames) {
    table_.rows.push_back({StackId{stack}, std::uint64_t{1}});
    report_.stacks[StackId{stack}] = frames;
  }

  static Frames called_from_main(std::uint32_t line, const char* outermost) {
    return {{.function = "malloc"},
            {.function = "fill"},
            {.function = "read"},
            {.function = "main", .file = "a.cpp", .line = line},
            {.function = outermost}};
  }

  // Without the title and the header.
  std::string rows() const {
    const std::string text = printed(table_, 100, report_);
    return text.substr(text.find("count\n") + 6);
  }

  Report report_;
  Table table_{.columns = {{"stack", Unit::Stack}, {"count", Unit::Count}}, .key_count = 1};
};

TEST_F(RepeatedStacks, that_differ_outside_of_main_are_printed_once) {
  add(1, called_from_main(7, "_start"));
  add(2, called_from_main(7, "0x7f0012345678"));
  add(3, called_from_main(9, "_start"));
  EXPECT_EQ(rows(),
            "    1\n    malloc\n    fill\n    read\n    main (a.cpp:7)\n    _start\n\n"
            "    1\n    (3 frames as in row 1)\n    main (a.cpp:7)\n    0x7f0012345678\n\n"
            "    1\n    (3 frames as in row 1)\n    main (a.cpp:9)\n    _start\n");
}

TEST_F(RepeatedStacks, of_another_process_are_those_of_an_earlier_row) {
  add(1, called_from_main(7, "_start"));
  add(2, {{.function = "free"}, {.function = "fill"}, {.function = "main"}});
  add(3, called_from_main(7, "_start"));
  EXPECT_TRUE(rows().ends_with("    main\n\n    1\n    (the stack of row 1)\n")) << rows();
}

TEST_F(RepeatedStacks, of_threads_differ_in_how_they_were_started) {
  const Frames inner = test::frames({"malloc", "fill", "work"});
  Frames first = inner;
  first.push_back({.function = "start_thread"});
  first.push_back({.function = "clone3"});
  Frames second = inner;
  second.push_back({.function = "[unknown]"});
  add(1, first);
  add(2, second);
  EXPECT_TRUE(rows().ends_with("    1\n    (3 frames as in row 1)\n    [unknown]\n")) << rows();
}

TEST_F(RepeatedStacks, that_differ_within_are_printed_whole) {
  add(1, called_from_main(7, "_start"));
  Frames other = called_from_main(7, "_start");
  other[1].line = 3;
  add(2, other);
  EXPECT_EQ(rows().find("row 1"), std::string::npos) << rows();
}

TEST_F(RepeatedStacks, that_are_short_are_printed_whole) {
  add(1, test::frames({"malloc", "main", "_start"}));
  add(2, test::frames({"malloc", "main", "[unknown]"}));
  EXPECT_EQ(rows().find("row 1"), std::string::npos) << rows();
}

TEST(TextTable, histograms_stand_below_their_rows) {
  const std::string text = printed({.columns = {{"comm", Unit::Text}, {"count", Unit::Count}},
                                    .key_count = 1,
                                    .rows = {{"a", std::uint64_t{1}}, {"b", std::uint64_t{2}}},
                                    .histograms = {{{"a"}, {"size", Unit::Bytes, {{4, 7, 1}}}}}});
  EXPECT_TRUE(text.starts_with("comm  count\na         1\n    size (bytes)\n    [4, 7]  1 |@"))
      << text;
  EXPECT_TRUE(text.ends_with("|\n\nb         2\n")) << text;
}

TEST(TextTable, an_empty_table_says_so) {
  EXPECT_EQ(printed({.title = "T", .columns = {{"n", Unit::Count}}}), "T\n(no rows)\n");
}

TEST(TextTable, a_table_that_is_too_wide_has_a_block_for_each_row) {
  Table table{
      .title = "by comm, cache",
      .columns = {{"comm", Unit::Text},
                  {"cache", Unit::Text},
                  {"count", Unit::Count},
                  {"bytes", Unit::Bytes},
                  {"avg_ns", Unit::Nanoseconds}},
      .key_count = 2,
      .rows = {{std::string(50, 'c'), "dentry", std::uint64_t{7}, std::uint64_t{96}, Cell()},
               {"b", "inode", std::uint64_t{1}, std::uint64_t{32}, Cell()}},
      .share_of = "bytes",
      .whole = 128};
  EXPECT_EQ(printed(table, 40),
            "by comm, cache\n"
            "comm: " +
                std::string(50, 'c') +
                "\n"
                "cache: dentry\n"
                "  count: 7  bytes: 96 B  share: 75.0%\n"
                "  avg: -\n"
                "\n"
                "comm: b  cache: inode\n"
                "  count: 1  bytes: 32 B  share: 25.0%\n"
                "  avg: -\n");
  EXPECT_EQ(printed(table, 120).find("comm:"), std::string::npos);
}

TEST(TextTable, a_share_that_makes_the_table_too_wide_is_left_out) {
  const Table table{.columns = {{"comm", Unit::Text}, {"count", Unit::Count}, {"max", Unit::Count}},
                    .key_count = 1,
                    .rows = {{std::string(28, 'c'), std::uint64_t{7}, std::uint64_t{9}}},
                    .share_of = "count",
                    .whole = 7};
  EXPECT_EQ(
      printed(table, 40),
      "comm" + std::string(24, ' ') + "  count  max\n" + std::string(28, 'c') + "      7    9\n");
  EXPECT_NE(printed(table, 48).find("share"), std::string::npos);
}

TEST(TextTable, blocks_have_their_stacks_and_a_sum_of_the_others) {
  Report report;
  report.stacks[StackId{1}] = test::frames({"malloc"});
  Table table{.columns = {{"comm", Unit::Text}, {"stack", Unit::Stack}, {"count", Unit::Count}},
              .key_count = 2,
              .rows = {{std::string(50, 'c'), StackId{1}, std::uint64_t{7}},
                       {"other", Cell(), std::uint64_t{1}}},
              .last_is_rest = true};
  EXPECT_EQ(printed(table, 40, report),
            "comm: " + std::string(50, 'c') +
                "\n  count: 7\n    malloc\n\ncomm: other\n  count: 1\n    (all other stacks)\n");
}

TEST(TextTable, nothing_is_cut_whatever_the_width) {
  for (const std::size_t width : {40U, 60U, 100U, 1000U}) {
    const std::string text = printed(wide_table(300), width);
    EXPECT_NE(text.find(std::string(300, 'c')), std::string::npos) << width;
    EXPECT_NE(text.find("18,446,744,073,709,551,615"), std::string::npos) << width;
  }
}

TEST(TextTable, titles_are_wrapped) {
  EXPECT_EQ(
      printed({.title = "a b c " + std::string(36, 'd'), .columns = {{"n", Unit::Count}}}, 40),
      "a b c\n  " + std::string(36, 'd') + "\n(no rows)\n");
}

TEST(TextTable, an_unnamed_stack_is_no_empty_line) {
  EXPECT_EQ(printed({.title = "T",
                     .columns = {{"stack", Unit::Stack}, {"n", Unit::Count}},
                     .key_count = 1,
                     .rows = {{StackId{9}, std::uint64_t{1}}}}),
            "T\n"
            "n\n"
            "1\n"
            "    (no stack)\n");
}

TEST(TextTable, two_stacks_of_a_row_are_told_apart) {
  Report report;
  report.stacks[StackId{1}] = {{.function = "alloc"}};
  report.stacks[StackId{2}] = {{.function = "free"}};
  EXPECT_EQ(
      printed({.title = "T",
               .columns = {{"allocated", Unit::Stack}, {"freed", Unit::Stack}, {"n", Unit::Count}},
               .key_count = 2,
               .rows = {{StackId{1}, StackId{2}, std::uint64_t{1}}}},
              100,
              report),
      "T\n"
      "n\n"
      "1\n"
      "  allocated:\n"
      "    alloc\n"
      "  freed:\n"
      "    free\n");
}

TEST(TextTable, each_line_of_the_note_is_a_line) {
  EXPECT_EQ(printed({.title = "T", .columns = {{"n", Unit::Count}}, .note = "one\ntwo"}),
            "T\n(no rows)\none\ntwo\n");
}

TEST(TextTable, lines_have_no_spaces_at_their_ends) {
  EXPECT_EQ(
      printed({.columns = {{"comm", Unit::Text}}, .key_count = 1, .rows = {{"a"}, {"long name"}}}),
      "comm\na\nlong name\n");
}

}  // namespace
}  // namespace memtrace
