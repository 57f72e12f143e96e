#include "cli/output/screen_cut.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr const char* kReport = "title\n\nhead\n1\n2\n3\n4\n\nLost: none.\nNote: x\n";

TEST(ScreenCut, what_fits_stays) {
  EXPECT_EQ(cut_to_screen(kReport, 10), kReport);
  EXPECT_EQ(cut_to_screen(kReport, 0), kReport);
  EXPECT_EQ(cut_to_screen("", 5), "\n");
}

TEST(ScreenCut, the_first_rows_and_the_caveats_stay) {
  EXPECT_EQ(
      cut_to_screen(kReport, 8),
      "title\n\nhead\n1\n2\n(3 more lines: --top N shows fewer rows)\nLost: none.\nNote: x\n");
}

TEST(ScreenCut, many_caveats_take_half_of_the_screen) {
  EXPECT_EQ(cut_to_screen("a\nb\n\nLost: 7 events\nNote: x\nNote: y\nNote: z\n", 4),
            "a\n(4 more lines: --top N shows fewer rows)\nLost: 7 events\nNote: x\n");
}

}  // namespace
}  // namespace memtrace
