// Help: of every command and view, short and long.
#include <algorithm>
#include <map>
#include <sstream>

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
  for (const char* topic : {"record", "report", "convert", "top", "doctor", "cleanup", "list"}) {
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
  for (const char* words : {"--version", "-V", "version"}) {
    EXPECT_EQ(run(std::string("$MEMTRACE ") + words).out, "memtrace " MEMTRACE_VERSION "\n");
  }
}

// Held against what the shared program asks the loader for.
TEST_F(HelpTest, version_with_build_lists_every_library) {
  const std::string needed = run("readelf -dW $MEMTRACE | grep NEEDED").out;
  const std::string listed = run("$MEMTRACE version --build").out;
  EXPECT_EQ(run("$MEMTRACE --version --build").out, listed);
  const std::map<std::string, std::string> libraries = {{"libdw.", "elfutils"},
                                                        {"libelf.", "elfutils"},
                                                        {"libtraceevent.", "libtraceevent"},
                                                        {"libtracefs.", "libtracefs"},
                                                        {"libcapstone.", "capstone"},
                                                        {"libzstd.", "zstd"},
                                                        {"libz.", "zlib"},
                                                        {"liblzma.", "xz"},
                                                        {"libre2.", "re2"},
                                                        {"libboost_program_options.", "boost"},
                                                        {"libfmt.", "fmt"},
                                                        {"libstdc++.", "libstdc++"},
                                                        {"libgcc_s.", "libstdc++"},
                                                        {"libm.", "glibc"},
                                                        {"libc.", "glibc"}};
  std::istringstream lines(needed);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto library = std::ranges::find_if(libraries, [&](const auto& each) {
      return line.find("[" + each.first) != std::string::npos;
    });
    if (line.find("[ld-linux") != std::string::npos || line.find("san.so") != std::string::npos) {
      continue;
    }
    ASSERT_NE(library, libraries.end()) << line;
    EXPECT_NE(listed.find("\n  " + library->second + " "), std::string::npos) << line << listed;
  }
  EXPECT_GT(count, 0U) << needed;
  EXPECT_EQ(listed.find("NOASSERTION"), std::string::npos) << listed;
}

TEST_F(HelpTest, version_takes_no_other_word) {
  const Outcome outcome = run("$MEMTRACE version --builds");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("memtrace version --build"), std::string::npos) << outcome.all();
}

}  // namespace
}  // namespace memtrace::test
