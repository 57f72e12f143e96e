#include "render/text_line.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(TextLine, width_counts_characters_and_not_bytes) {
  EXPECT_EQ(width_of(""), 0U);
  EXPECT_EQ(width_of("abc"), 3U);
  EXPECT_EQ(width_of("größe"), 5U);
}

TEST(TextLine, text_that_fits_is_not_cut) {
  EXPECT_EQ(cut_end("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_middle("abcdef", 6), "abcdef");
}

TEST(TextLine, text_is_cut_at_its_end_or_in_its_middle) {
  EXPECT_EQ(cut_end("abcdefghij", 7), "abcd...");
  EXPECT_EQ(cut_middle("abcdefghij", 7), "ab...ij");
  EXPECT_EQ(cut_middle("abcdefghij", 8), "abc...ij");
}

TEST(TextLine, hardly_any_room_leaves_no_dots) {
  EXPECT_EQ(cut_end("abcdef", 3), "abc");
  EXPECT_EQ(cut_middle("abcdef", 2), "ab");
  EXPECT_EQ(cut_middle("abcdef", 0), "");
  EXPECT_EQ(cut_middle("abcdef", 4), "a...");
}

TEST(TextLine, characters_are_never_cut_in_two) {
  EXPECT_EQ(cut_end("ääääää", 5), "ää...");
  EXPECT_EQ(cut_middle("ääääääää", 7), "ää...ää");
}

TEST(TextLine, bytes_that_are_no_characters_do_no_harm) {
  EXPECT_EQ(width_of("\x80\x80"), 0U);
  EXPECT_EQ(cut_end("\xff\xff\xff\xff\xff", 4), "\xff...");
}

TEST(TextLine, padding_fills_to_the_width_and_never_cuts) {
  EXPECT_EQ(pad_right("ä", 3), "ä  ");
  EXPECT_EQ(pad_left("ab", 4), "  ab");
  EXPECT_EQ(pad_left("abcdef", 4), "abcdef");
}

TEST(TextLine, lines_break_at_spaces_and_go_on_indented) {
  const std::vector<std::string> expected = {"aaa bbb", "  ccc", "  ddddd"};
  EXPECT_EQ(wrap("aaa bbb ccc ddddd", 7, 2), expected);
}

TEST(TextLine, a_word_wider_than_the_line_stays_whole) {
  const std::vector<std::string> expected = {"see", "  /usr/lib/debug", "  x"};
  EXPECT_EQ(wrap("see /usr/lib/debug x", 6, 2), expected);
}

}  // namespace
}  // namespace memtrace
