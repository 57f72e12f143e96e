#include "cli/output/pager.h"

#include <gtest/gtest.h>

#include "os/system.h"
#include "support/temp_dir.h"

namespace memtrace::test {
namespace {

using Words = std::vector<std::string>;

TEST(Pager, root_takes_no_program_from_the_environment) {
  const auto pager = pager_command(true,
                                   {"PAGER=/home/eve/pager",
                                    "LESSOPEN=|/home/eve/open %s",
                                    "LESS=+!id",
                                    "TERMINFO=/home/eve/terminfo",
                                    "LD_PRELOAD=/home/eve/lib.so",
                                    "TERM=xterm",
                                    "LANG=C.UTF-8"});
  EXPECT_EQ(pager.words, (Words{"/usr/bin/less"}));
  EXPECT_EQ(pager.environment, (Words{"LESS=FRX", "LESSSECURE=1", "TERM=xterm", "LANG=C.UTF-8"}));
}

TEST(Pager, others_have_the_pager_that_they_named) {
  const auto pager = pager_command(false, {"PAGER=more -s", "LESS=i"});
  EXPECT_EQ(pager.words, (Words{"/bin/sh", "-c", "more -s"}));
  EXPECT_EQ(pager.environment, (Words{"PAGER=more -s", "LESS=i"}));
}

TEST(Pager, others_who_named_none_have_less) {
  const auto pager = pager_command(false, {"TERM=xterm"});
  EXPECT_EQ(pager.words, (Words{"/bin/sh", "-c", "less"}));
  EXPECT_EQ(pager.environment, (Words{"TERM=xterm", "LESS=FRX"}));
}

TEST(Pager, cat_or_nothing_is_no_pager) {
  EXPECT_TRUE(pager_command(false, {"PAGER=cat"}).words.empty());
  EXPECT_TRUE(pager_command(false, {"PAGER="}).words.empty());
}

TEST(Pager, a_screen_holds_as_many_lines_as_it_has_rows) {
  EXPECT_FALSE(is_longer_than("a\nb\n", 2));
  EXPECT_TRUE(is_longer_than("a\nb\nc\n", 2));
}

TEST(Pager, gets_the_whole_text) {
  const TempDir folder;
  const std::string file = folder.path() + "/shown";
  const std::string text(300'000, 'x');  // more than a pipe holds (pipe(7))
  EXPECT_TRUE(show_in_pager({.words = {"/bin/sh", "-c", "cat > " + file}}, text));
  const auto shown = read_file(file);
  ASSERT_TRUE(shown.ok());
  EXPECT_EQ(shown.value(), text);
}

TEST(Pager, one_that_is_left_early_has_shown_it) {
  EXPECT_TRUE(show_in_pager({.words = {"/bin/sh", "-c", "exit 0"}}, std::string(300'000, 'x')));
}

TEST(Pager, one_that_is_not_there_shows_nothing) {
  EXPECT_FALSE(show_in_pager({.words = {"/no/such/pager"}}, "text"));
  EXPECT_FALSE(show_in_pager({.words = {"/bin/sh", "-c", "no-such-pager"}}, "text"));
  EXPECT_FALSE(show_in_pager({}, "text"));
}

}  // namespace
}  // namespace memtrace::test
