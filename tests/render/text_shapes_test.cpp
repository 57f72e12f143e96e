#include "render/text_shapes.h"

#include <gtest/gtest.h>

#include <sstream>

namespace memtrace {
namespace {

std::string printed(const Histogram& histogram, std::size_t width) {
  std::ostringstream out;
  print_histogram(histogram, width, out);
  return out.str();
}

TEST(TextShapes, bars_are_drawn_to_scale_and_fit_the_width) {
  EXPECT_EQ(printed({"Sizes", Unit::Bytes, {{64, 127, 100}, {128, 255, 50}, {256, 511, 0}}}, 36),
            "Sizes (bytes)\n"
            "[64, 127]   100 |@@@@@@@@@@@@@@@@@@|\n"
            "[128, 255]   50 |@@@@@@@@@         |\n"
            "[256, 511]    0 |                  |\n");
}

TEST(TextShapes, a_bucket_that_is_not_empty_has_a_mark) {
  EXPECT_EQ(printed({"N", Unit::Number, {{0, 0, 1}, {1, 1, 1000000}}}, 10),
            "N\n"
            "[0]          1 |@         |\n"
            "[1]  1,000,000 |@@@@@@@@@@|\n");
}

TEST(TextShapes, a_histogram_of_zeros_divides_by_nothing) {
  EXPECT_EQ(printed({"N", Unit::Number, {{0, 0, 0}}}, 10), "N\n[0]  0 |          |\n");
}

TEST(TextShapes, an_empty_histogram_says_so) {
  EXPECT_EQ(printed({"N", Unit::Number, {}}, 100), "N\n(no values)\n");
}

TEST(TextShapes, a_series_tells_the_time_since_the_start) {
  std::ostringstream out;
  print_series({"Free", Unit::Bytes, {{1500, 1024}, {2'000'001'000, 10}, {0, 1}}}, 1000, out);
  EXPECT_EQ(out.str(),
            "Free\n"
            "     at    value\n"
            "0.000 s  1.0 KiB\n"
            "2.000 s     10 B\n"
            "0.000 s      1 B\n");
}

TEST(TextShapes, an_empty_series_says_so) {
  std::ostringstream out;
  print_series({"Free", Unit::Bytes, {}}, 0, out);
  EXPECT_EQ(out.str(), "Free\n(no points)\n");
}

}  // namespace
}  // namespace memtrace
