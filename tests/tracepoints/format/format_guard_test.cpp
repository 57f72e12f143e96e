#include "tracepoints/format/format_guard.h"

#include <gtest/gtest.h>

#include <string>

#include "support/saved_formats.h"

namespace memtrace {
namespace {

constexpr std::string_view kHead =
    "name: made\nID: 9\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
    "\tfield:u32 state;\toffset:8;\tsize:4;\tsigned:0;\n\n";

// What is left of a print fmt.
std::string guarded_print(const std::string& print) {
  const std::string text = std::string(kHead) + "print fmt: " + print + "\n";
  EXPECT_TRUE(parse_format(text, "made").ok()) << print;  // survived, with its fields
  const std::string guarded = guarded_format(text).value_or("refused");
  return guarded.substr(guarded.find("print fmt: ") + 11);
}

TEST(guarded_format, calls_that_name_values_are_kept_whole) {
  EXPECT_EQ(guarded_print(R"~("%s %d", __print_flags(REC->state, "|", {(1), ")" }), REC->state)~"),
            "\"\", __print_flags(REC->state, \"|\", {(1), \")\" })\n");
  EXPECT_EQ(guarded_print(R"("%s", REC->state ? __print_symbolic(REC->state / 8, {1,"a"}) : "x")"),
            "\"\", __print_symbolic(REC->state / 8, {1,\"a\"})\n");
  EXPECT_EQ(guarded_print(R"("%d", ({ int x = 1; x; }), __print_symbolic(REC->state, {1, "a"}))"),
            "\"\", __print_symbolic(REC->state, {1, \"a\"})\n");
}

TEST(guarded_format, calls_that_kill_libtraceevent_are_dropped) {
  for (const char* print : {R"("%s", __print_flags(REC->nosuch, "|", {1, "a"}))",
                            R"("%s", __print_flags(REC->)",
                            R"("%s", __print_flags(REC->state / B, "|", {1, "a"}))",
                            R"("%s", __print_flags(REC->state % 0x0, "|", {1, "a"}))",
                            R"("%s", __print_symbolic(REC->state, {1, "a")))",
                            R"("%s", __print_symbolic(REC->state, {1, "a}))",
                            R"("%d", REC->state ? 1 : 0@ REC->state)",
                            R"("%d)"}) {
    EXPECT_EQ(guarded_print(print), "\"\"\n") << print;
  }
  const std::string deep = std::string(1000, '(') + "REC->state" + std::string(1000, ')');
  EXPECT_EQ(guarded_print("\"%s\", __print_flags(" + deep + ", \"|\", {1, \"a\"})"), "\"\"\n");
}

TEST(guarded_format, one_bad_call_does_not_cost_the_others) {
  EXPECT_EQ(
      guarded_print(R"("", __print_flags(REC->x, "", {}), __print_flags(REC->state, "", {}))"),
      "\"\", __print_flags(REC->state, \"\", {})\n");
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
