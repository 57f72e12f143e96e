#include "cli/output/screen_cut.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr const char* kReport = "title\n\nhead\n1\n2\n3\n4\n\nLost: none.\nNote: x\n";

TEST(ScreenCut, what_fits_stays) {
  EXPECT_EQ(cut_to_screen(kReport, {.rows = 10}), kReport);
  EXPECT_EQ(cut_to_screen(kReport, {}), kReport);
  EXPECT_EQ(cut_to_screen("", {.rows = 5}), "\n");
}

TEST(ScreenCut, the_first_rows_and_the_caveats_stay) {
  EXPECT_EQ(
      cut_to_screen(kReport, {.rows = 8}),
      "title\n\nhead\n1\n2\n(3 more lines: --top N shows fewer rows)\nLost: none.\nNote: x\n");
}

TEST(ScreenCut, many_caveats_take_half_of_the_screen) {
  EXPECT_EQ(cut_to_screen("a\nb\n\nLost: 7 events\nNote: x\nNote: y\nNote: z\n", {.rows = 4}),
            "a\n(4 more lines: --top N shows fewer rows)\nLost: 7 events\nNote: x\n");
}

// It went on in the next row, and the first line of the report left the screen.
TEST(ScreenCut, a_line_wider_than_the_screen_takes_several_rows) {
  const std::string heading(50, 't');
  EXPECT_EQ(cut_to_screen(heading + "\n1\n2\n\nLost: none.\n", {.rows = 5, .columns = 40}),
            heading + "\n1\n(2 more lines: --top N shows fewer rows)\nLost: none.\n");
  EXPECT_EQ(cut_to_screen(heading + "\n1\n2\n\nLost: none.\n", {.rows = 6, .columns = 40}),
            heading + "\n1\n2\n\nLost: none.\n");
}

TEST(ScreenCut, colours_take_no_room) {
  const std::string text = "\x1b[1mtitle\x1b[0m\n\x1b[31m9.0%\x1b[0m\n\nLost: none.\n";
  EXPECT_EQ(cut_to_screen(text, {.rows = 4, .columns = 11}), text);
}

}  // namespace
}  // namespace memtrace
