// Reports on terminals: what fits, colours, and the pager.
#include <string>

#include "cli/program.h"
#include "support/golden.h"
#include "support/tmux_test.h"

namespace memtrace::test::terminal_test {
namespace {

struct Size {
  std::size_t columns = 0;
  std::size_t lines = 0;

  std::string text() const { return std::to_string(columns) + "x" + std::to_string(lines); }

  friend std::ostream& operator<<(std::ostream& out, const Size& size) {
    return out << size.text();
  }
};

constexpr Size kUsual = {.columns = 80, .lines = 24};

class TerminalTest : public TmuxTest<ProgramTest>, public testing::WithParamInterface<Size> {
 protected:
  // The program's own environment has COLUMNS, and the shell of tmux has TERM=screen.
  void report(const Size& size, const std::string& words, const std::string& variables = "") {
    open_terminal(size.columns,
                  size.lines,
                  "env -u COLUMNS " + variables + " \"$MEMTRACE\" report -i \"$CROWD\" " + words +
                      "; echo the end; sleep 60");
  }

  std::string painted_screen() { return tmux("capture-pane -p -e").out; }
};

TEST_P(TerminalTest, report_is_as_wide_as_the_terminal) {
  report(GetParam(), "kmalloc --by comm,caller -n 4 --no-pager");
  ASSERT_TRUE(shows("the end")) << screen();
  for (const std::string& line : lines_in(screen())) {
    EXPECT_LE(columns_of(line), GetParam().columns) << line;
  }
  expect_golden("terminal/kmalloc_" + GetParam().text() + ".txt", screen());
}

INSTANTIATE_TEST_SUITE_P(of,
                         TerminalTest,
                         testing::Values(Size{80, 24}, Size{120, 40}, Size{200, 60}),
                         [](const auto& each) { return "size_" + each.param.text(); });

TEST_F(TerminalTest, a_long_report_is_shown_from_its_start_until_the_user_leaves_it) {
  report(kUsual, "--all");
  ASSERT_TRUE(shows("\n:")) << "less waits for a key\n" << screen();
  EXPECT_TRUE(screen().starts_with("recording of ")) << screen();
  press("G");
  EXPECT_TRUE(shows("(END)")) << screen();
  EXPECT_EQ(screen().find("the end"), std::string::npos);
  press("q");
  EXPECT_TRUE(shows("the end")) << screen();
}

TEST_F(TerminalTest, a_short_report_needs_no_pager) {
  report(kUsual, "kmalloc --by comm -n 2 --kernel");
  EXPECT_TRUE(shows("the end")) << screen();
}

TEST_F(TerminalTest, titles_and_shares_have_colours) {
  report(kUsual, "kmalloc --by comm -n 2 --no-pager");
  ASSERT_TRUE(shows("the end")) << screen();
  EXPECT_NE(painted_screen().find("\x1b[1mkmalloc"), std::string::npos) << painted_screen();
  EXPECT_NE(painted_screen().find("\x1b[31m"), std::string::npos) << painted_screen();
}

TEST_F(TerminalTest, colours_can_be_refused) {
  report(kUsual, "kmalloc --by comm -n 2 --no-pager", "NO_COLOR=1");
  ASSERT_TRUE(shows("the end")) << screen();
  EXPECT_EQ(painted_screen().find('\x1b'), std::string::npos) << painted_screen();
}

TEST_F(TerminalTest, a_pipe_has_neither_colours_nor_a_pager) {
  EXPECT_EQ(run("$MEMTRACE report kmalloc -i $CROWD").out.find('\x1b'), std::string::npos);
  EXPECT_NE(run("$MEMTRACE report kmalloc --color always -i $CROWD").out.find("\x1b[1m"),
            std::string::npos);
  expect_refused("report kmalloc --color blue", 2, "--color blue", "takes auto, always or never");
}

}  // namespace
}  // namespace memtrace::test::terminal_test
