#include "cli/options/option_table.h"

#include <gtest/gtest.h>

#include <array>

namespace memtrace {
namespace {

constexpr auto kOptions = std::to_array<Option>({
    {"all", 'a', "", "everything"},
    {"event", 'e', "EVENT,...", "these"},
    {"top", 0, "N", "show N rows"},
    {"ring-size", 'm', "SIZE", "memory"},
    {"level", 'z', "[=LEVEL]", "how much"},
    {"duration", 'd', "SECONDS", "time"},
});

ParsedOptions parsed(const std::vector<std::string>& arguments) {
  auto result = parse_options(kOptions, arguments);
  EXPECT_TRUE(result.ok());
  return result.take();
}

TEST(OptionTableTest, lists_come_from_commas_and_from_repetition) {
  const auto options = parsed({"-e", "a:b,c:d", "--event=e:f"});
  EXPECT_EQ(options.list("event"), (std::vector<std::string>{"a:b", "c:d", "e:f"}));
  EXPECT_FALSE(options.has("all"));
}

TEST(OptionTableTest, what_stands_behind_two_dashes_is_the_command_as_it_is) {
  const auto options = parsed({"-a", "--", "ls", "-e", "--", "x"});
  EXPECT_TRUE(options.has("all"));
  EXPECT_EQ(options.command(), (std::vector<std::string>{"ls", "-e", "--", "x"}));
  EXPECT_FALSE(options.has("event"));
}

TEST(OptionTableTest, argument_in_brackets_may_be_left_out) {
  EXPECT_EQ(parsed({"-z", "-a"}).text("level", "none"), "1");
  EXPECT_EQ(parsed({"-z3", "-a"}).text("level"), "3");
  EXPECT_EQ(parsed({"--level=4"}).text("level"), "4");
  EXPECT_EQ(parsed({"--level", "--", "5"}).text("level", "none"), "1");
  EXPECT_EQ(parsed({"-z", "5"}).text("level"), "5");
  EXPECT_EQ(parsed({"-a"}).text("level", "none"), "none");
}

TEST(OptionTableTest, positional_words_may_stand_anywhere) {
  const auto options = parsed({"1", "-a", "5"});
  EXPECT_EQ(options.positional(), (std::vector<std::string>{"1", "5"}));
}

TEST(OptionTableTest, an_unknown_option_is_a_usage_error_with_the_nearest) {
  const auto result = parse_options(kOptions, {"--tops", "3"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::Usage);
  EXPECT_EQ(result.error().hint, "did you mean --top?");
}

TEST(OptionTableTest, values_are_checked) {
  const auto options = parsed({"--top", "many", "-m", "64K", "-d", "0"});
  EXPECT_EQ(options.number("top", 0).error().kind, ErrorKind::Usage);
  EXPECT_EQ(options.bytes("ring-size", 0).value(), 65536U);
  EXPECT_FALSE(options.duration_ns("duration", 0).ok());
  EXPECT_EQ(options.number("event", 7).value(), 7U);
}

TEST(OptionTableTest, a_missing_value_is_a_usage_error) {
  const auto result = parse_options(kOptions, {"--top"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::Usage);
}

TEST(OptionTableTest, help_shows_each_option_with_its_argument) {
  const std::string help = help_text(kOptions);
  EXPECT_NE(help.find("  -e, --event EVENT,..."), std::string::npos);
  EXPECT_NE(help.find("      --top N"), std::string::npos);
}

constexpr auto kOtherNames = std::to_array<Option>({
    {"top", 0, "N", "rows"},
    {"limit", 'n', "N", "the same as --top", "top"},
    {"format", 0, "FORMAT", "how"},
    {"json", 0, "", "the same as --format json", "format", "json"},
});

TEST(OtherNames, are_those_of_the_option_that_they_mean) {
  const auto parsed = parse_options(kOtherNames, {"-n", "5", "--json"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().text("top"), "5");
  EXPECT_EQ(parsed.value().text("format"), "json");
  EXPECT_FALSE(parsed.value().has("limit"));
  EXPECT_FALSE(parsed.value().has("json"));
}

TEST(OtherNames, the_last_one_counts_under_whatever_name) {
  EXPECT_EQ(parse_options(kOtherNames, {"--limit=5", "--top", "6"}).value().text("top"), "6");
  EXPECT_EQ(parse_options(kOtherNames, {"--top", "6", "-n5"}).value().text("top"), "5");
}

}  // namespace
}  // namespace memtrace
