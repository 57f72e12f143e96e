#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

namespace memtrace {
namespace {

using Strings = std::vector<std::string>;
using Views = std::vector<std::string_view>;

TEST(SplitList, leaves_commas_within_parentheses) {
  const std::vector<std::string_view> expected = {"a(b,c(d,e))", "f", ""};
  EXPECT_EQ(split_list("a(b,c(d,e)),f,"), expected);
}

TEST(Text, splitting_keeps_empty_parts) {
  EXPECT_EQ(split("a,b", ','), (Views{"a", "b"}));
  EXPECT_EQ(split(",a,", ','), (Views{"", "a", ""}));
  EXPECT_EQ(split("", ','), Views{""});
}

TEST(Text, joining_undoes_splitting) {
  EXPECT_EQ(join(Strings{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join(Strings{"", "a", ""}, ","), ",a,");
  EXPECT_EQ(join(Strings{"", ""}, ","), ",");
  EXPECT_EQ(join(Strings{}, ","), "");
}

TEST(Text, trimming_takes_space_off_both_ends) {
  EXPECT_EQ(trim(" \ta b\r\n"), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, a_number_is_the_whole_text) {
  EXPECT_EQ(parse_number("123"), 123U);
  EXPECT_EQ(parse_number("0x1F"), 31U);
  EXPECT_EQ(parse_number("ff", 16), 255U);
  EXPECT_EQ(parse_number("18446744073709551615"), 18446744073709551615U);
}

TEST(Text, what_is_no_number_is_nothing) {
  for (const char* text :
       {"", "0x", "12a", " 1", "1 ", "-1", "+1", "18446744073709551616", "0x0x1"}) {
    EXPECT_FALSE(parse_number(text)) << '"' << text << '"';
  }
}

TEST(Text, stars_match_any_text_and_question_marks_one_character) {
  EXPECT_TRUE(glob_match("kmem:*", "kmem:kmalloc"));
  EXPECT_TRUE(glob_match("*a*b", "xxaxxaxb"));
  EXPECT_TRUE(glob_match("k?ee", "kfee"));
  EXPECT_TRUE(glob_match("**", ""));
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("kmem:*x", "kmem:kmalloc"));
  EXPECT_FALSE(glob_match("k?", "k"));
  EXPECT_FALSE(glob_match("", "k"));
  EXPECT_FALSE(glob_match("kmalloc", "kmalloc_node"));
}

TEST(Text, the_nearest_names_come_first_and_at_most_three) {
  const Strings names = {"kmalloc", "kmem", "kfree", "pages"};
  EXPECT_EQ(nearest("kmaloc", names), Strings{"kmalloc"});
  EXPECT_EQ(nearest("pag", names), Strings{"pages"});
  EXPECT_TRUE(nearest("zzzzzz", names).empty());
  EXPECT_EQ(nearest("a", Strings{"ad", "ac", "ab", "aa"}), (Strings{"aa", "ab", "ac"}));
}

TEST(Text, each_byte_has_two_hexadecimal_digits) {
  const std::array<std::byte, 4> bytes = {
      std::byte{0}, std::byte{9}, std::byte{0xa0}, std::byte{0xff}};
  EXPECT_EQ(to_hex(bytes), "0009a0ff");
  EXPECT_EQ(to_hex({}), "");
}

}  // namespace
}  // namespace memtrace
