#include "tracepoints/format_guard.h"

#include <gtest/gtest.h>

#include <string>

#include "tracepoints/saved_formats.h"

namespace memtrace {
namespace {

constexpr std::string_view kHead =
    "name: made\nID: 9\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
    "\tfield:u32 state;\toffset:8;\tsize:4;\tsigned:0;\n\n";

bool keeps(const std::string& print) {
  const std::string text = std::string(kHead) + "print fmt: " + print + "\n";
  const auto guarded = guarded_format(text);
  EXPECT_TRUE(guarded.has_value()) << print;
  // What is dropped is the print fmt alone, and what is kept is survived.
  EXPECT_TRUE(parse_format(text, "made").ok()) << print;
  return guarded == text;
}

TEST(guarded_format, real_formats_pass_unchanged) {
  for (const char* kernel : {"5.10", "6.1", "6.12"}) {
    const auto events = saved(kernel).list_events("*:*");
    ASSERT_TRUE(events.ok());
    for (const std::string& event : events.value()) {
      const auto text = saved(kernel).event_format_text(event);
      ASSERT_TRUE(text.ok()) << event;
      EXPECT_EQ(guarded_format(text.value()), text.value()) << event;
    }
  }
}

TEST(guarded_format, whole_print_fmt_is_kept) {
  EXPECT_TRUE(keeps(R"("%s (\"", __print_flags(REC->state, "|", {1, "{" }))"));
  EXPECT_TRUE(keeps(R"("%d", REC->state / 10 % 0x20 / sizeof(u32))"));
}

TEST(guarded_format, print_fmt_that_kills_libtraceevent_is_dropped) {
  EXPECT_FALSE(keeps(R"("%s", __print_flags(REC->nosuch, "|", {1, "a"}))"));
  EXPECT_FALSE(keeps(R"("%s", __print_flags(REC->)"));
  EXPECT_FALSE(keeps(R"("%d", A / B)"));
  EXPECT_FALSE(keeps(R"("%d", 1 % 0x0)"));
}

TEST(guarded_format, print_fmt_with_open_brackets_or_quotes_is_dropped) {
  for (const char* print :
       {R"("%d)", R"("%d", (REC->state)", R"("%d", REC->state))", R"("", (])"}) {
    EXPECT_FALSE(keeps(print)) << print;
  }
  EXPECT_FALSE(keeps("\"%d\", " + std::string(1000, '(') + "1" + std::string(1000, ')')));
}

TEST(guarded_format, damaged_field_lines_are_refused) {
  const std::string head(kHead);
  for (const char* line : {"\tfield:char[",
                           "\tfield:char name;\toffset:1",
                           "\tfield:char name;\toffset:x;\tsize:1;\n",
                           "\tfield:;\toffset:1;\tsize:1;\n",
                           "\tfiel:char name;\toffset:1;\tsize:1;\n",
                           "\tfield:char name[4;\toffset:1;\tsize:1;\n"}) {
    EXPECT_FALSE(guarded_format(head + line).has_value()) << line;
  }
  EXPECT_FALSE(guarded_format("").has_value());
}

}  // namespace
}  // namespace memtrace
