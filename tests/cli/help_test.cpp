// Help: of every command and view, short and long.
#include "cli/program.h"
#include "views/all/all_views.h"

namespace memtrace::test {
namespace {

class HelpTest : public ProgramTest {
 protected:
  void expect_prints(const std::string& words, const std::string& part) {
    const Outcome outcome = run("$MEMTRACE " + words);
    EXPECT_EQ(outcome.status, 0) << words << "\n" << outcome.all();
    EXPECT_EQ(outcome.err, "") << words;
    EXPECT_NE(outcome.out.find(part), std::string::npos) << words << " lacks " << part;
  }
};

std::string in_capitals(std::string_view text) {
  std::string capitals(text);
  for (char& letter : capitals) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return capitals;
}

TEST_F(HelpTest, without_words_memtrace_says_what_it_can_do) {
  for (const char* words : {"", "help", "--help", "-h"}) {
    expect_prints(words, "Commands:\n  record ");
    expect_prints(words, "Views, for report, record --for, or live:\n  anon ");
  }
}

TEST_F(HelpTest, every_command_has_short_help) {
  expect_prints("record --help", "Usage: memtrace record ");
  expect_prints("report --help", "Usage: memtrace report ");
  expect_prints("report -h", "Usage: memtrace report ");
}

TEST_F(HelpTest, every_command_has_a_page) {
  for (const char* topic : {"record", "report", "convert", "top", "doctor", "list"}) {
    expect_prints(std::string("help ") + topic, "MEMTRACE-" + in_capitals(topic) + "(1)");
  }
  expect_prints("help memtrace", "MEMTRACE(1)");
}

TEST_F(HelpTest, lists_are_of_views_and_their_keys) {
  for (const char* words : {"list", "list views"}) {
    expect_prints(words, "anon         ");
  }
  expect_prints("list keys", "kmalloc      stack caller comm pid tid size gfp node cpu user uid ");
  expect_prints("list keys kpages", "stack caller comm pid");
  for (const NamedView& view : all_views()) {
    expect_prints("list keys " + std::string(view.name), std::string(view.spec.keys.front()));
  }
}

TEST_F(HelpTest, every_view_has_short_help_and_a_page) {
  for (const NamedView& view : all_views()) {
    const std::string name(view.name);
    expect_prints(name + " --help", "Usage: memtrace " + name + " ");
    expect_prints(name + " --help", std::string(view.spec.summary));
    expect_prints("help " + name, "MEMTRACE-" + in_capitals(name) + "(1)");
  }
}

TEST_F(HelpTest, options_of_a_view_are_in_its_help_alone) {
  expect_prints("kleaks --help", "--older");
  expect_prints("report kleaks --help", "--older");
  EXPECT_EQ(run("$MEMTRACE report kmalloc --help").out.find("--older"), std::string::npos);
}

TEST_F(HelpTest, names_from_other_tools_have_help) {
  expect_prints("kmalloc-top --help", "Usage: memtrace kmalloc ");
  expect_prints("help slabratetop", "MEMTRACE-SLAB(1)");
}

TEST_F(HelpTest, version_is_one_line) {
  for (const char* words : {"--version", "-V"}) {
    EXPECT_EQ(run(std::string("$MEMTRACE ") + words).out, "memtrace " MEMTRACE_VERSION "\n");
  }
}

}  // namespace
}  // namespace memtrace::test
