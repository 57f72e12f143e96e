#include "base/interner.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>

namespace memtrace {
namespace {

TEST(StringTable, ids_are_given_in_the_order_of_appearance) {
  StringTable strings;
  EXPECT_EQ(strings.intern("bash"), StringId{1});
  EXPECT_EQ(strings.intern("ls"), StringId{2});
  EXPECT_EQ(strings.intern("bash"), StringId{1});
  EXPECT_EQ(strings.at(StringId{2}), "ls");
}

TEST(StringTable, the_id_of_none_is_empty_and_the_empty_string_has_an_id) {
  StringTable strings;
  EXPECT_EQ(strings.at(StringId{}), "");
  EXPECT_TRUE(strings.intern("").valid());
  EXPECT_EQ(strings.intern(""), StringId{1});
}

TEST(StringTable, views_stay_valid_while_the_table_grows) {
  StringTable strings;
  const std::string_view first = strings.at(strings.intern("a"));
  for (int i = 0; i < 5000; ++i) {
    strings.intern(std::to_string(i));
  }
  EXPECT_EQ(first, "a");
  EXPECT_EQ(first.data(), strings.at(StringId{1}).data());
}

TEST(StringTable, the_callers_bytes_are_not_needed_any_more) {
  StringTable strings;
  std::string text = "short";
  strings.intern(text);
  text = "other";
  EXPECT_EQ(strings.intern("short"), StringId{1});
  EXPECT_EQ(strings.intern("other"), StringId{2});
}

TEST(StringTable, a_moved_table_still_knows_its_strings) {
  StringTable old;
  old.intern("bash");
  StringTable strings = std::move(old);
  EXPECT_EQ(strings.intern("bash"), StringId{1});
  EXPECT_EQ(strings.at(StringId{1}), "bash");
}

TEST(StringTable, a_table_cannot_be_copied) {
  EXPECT_FALSE(std::is_copy_constructible_v<StringTable>);
  EXPECT_FALSE(std::is_copy_assignable_v<StringTable>);
}

}  // namespace
}  // namespace memtrace
