// What the options of other tools become.
#include "cli/aliases.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace memtrace {
namespace {

std::string traced(const char* name, const std::vector<std::string>& words) {
  const auto found = traced_alias(*find_alias(name), words);
  return found ? std::string(found->view) + " " + join(found->arguments, " ") : "";
}

TEST(Aliases, t_of_memleak_prints_each_call) {
  EXPECT_EQ(traced("memleak", {"-p", "1", "-t"}), "malloc -p 1 --trace");
  EXPECT_EQ(traced("memleak", {"--trace", "--pid=1"}), "malloc --trace --pid=1");
  EXPECT_EQ(traced("memleak", {"-t", "--", "ls", "-t"}), "malloc --trace -- ls -t");
  EXPECT_EQ(traced("memleak", {"-t", "--tid", "7"}), "malloc --trace --tid 7");
  EXPECT_EQ(traced("memleak", {"-t", "--yes-all-processes"}), "malloc --trace --yes-all-processes");
  EXPECT_EQ(traced("memleak", {"-t"}), "kmalloc --trace");
  EXPECT_EQ(traced("memleak", {"-p", "1", "--", "ls", "-t"}), "");
  EXPECT_EQ(traced("drsnoop", {"-t"}), "");
}

TEST(Aliases, c_takes_a_command_in_the_words_of_a_shell) {
  const auto letters = [](const char* name, const std::vector<std::string>& words) {
    const auto taken = with_alias_letters(*find_alias(name), words);
    return taken.ok() ? join(taken.value(), "|") : taken.error().message;
  };
  EXPECT_EQ(letters("kmalloc-top", {"-c", "ls -l", "--top", "5"}), "--top|5|--|sh|-c|ls -l");
  EXPECT_EQ(letters("memleak", {"-c", "ls"}), "--|sh|-c|ls");
  EXPECT_EQ(letters("kmalloc-top", {"-c"}), "-c");
  EXPECT_EQ(letters("kmalloc-top", {"--", "sh", "-c", "x"}), "--|sh|-c|x");
}

}  // namespace
}  // namespace memtrace
