#include "base/visible.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(Visible, plain_text_stays) {
  EXPECT_EQ(visible(""), "");
  EXPECT_EQ(visible("operator new(unsigned long) [clone .cold] \\x2d ~"),
            "operator new(unsigned long) [clone .cold] \\x2d ~");
  EXPECT_EQ(visible("größe 日本 𝄞"), "größe 日本 𝄞");
}

TEST(Visible, orders_to_the_terminal_are_shown) {
  EXPECT_EQ(visible("a\x1b[2J\n\t\x7f"), "a\\x1b[2J\\x0a\\x09\\x7f");
  EXPECT_EQ(visible("a\xc2\x9b"
                    "31m\xc2\x80"),
            "a\\u009b31m\\u0080");
  EXPECT_EQ(visible("a\x9b"
                    "31m"),
            "a\\x9b31m");
}

TEST(Visible, what_turns_the_reading_direction_is_shown) {
  EXPECT_EQ(visible("\u202a\u202e\u2066\u2069\u200e\u200f\u061c\u2028"),
            "\\u202a\\u202e\\u2066\\u2069\\u200e\\u200f\\u061c\\u2028");
  EXPECT_EQ(visible("\u200d\u202f"), "\u200d\u202f");
}

TEST(Visible, bytes_that_are_no_utf8_are_shown_one_by_one) {
  EXPECT_EQ(visible("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(visible("\xc0\xaf"), "\\xc0\\xaf");                    // a slash, too long
  EXPECT_EQ(visible("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");           // U+009B, too long
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(visible("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(visible("a\xe2\x82"), "a\\xe2\\x82");                  // cut off
  EXPECT_EQ(visible(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Visible, lines_stay_apart) {
  EXPECT_EQ(visible_lines("a\nb\x1b\n"), "a\nb\\x1b\n");
}

TEST(Visible, nothing_is_left_for_a_second_time) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
    all += static_cast<char>(255 - byte);
  }
  EXPECT_EQ(visible(visible(all)), visible(all));
}

}  // namespace
}  // namespace memtrace
