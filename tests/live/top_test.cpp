// memtrace top on a real terminal: one that tmux shows, which is asked what is on it.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "live_test.h"
#include "support/tmux_test.h"

namespace memtrace::test {
namespace {

class TopTest : public TmuxTest<LiveTest> {
 protected:
  // A shell that keeps the terminal's settings of before and after, and the status.
  void start_top(const std::string& words) {
    open_terminal(80,
                  24,
                  "stty -g >before; \"$MEMTRACE\" top " + words +
                      " 2>messages; echo $? >status; stty -g >after; echo the end; sleep 60");
  }

  std::string read(const std::string& name) const { return text_of(dir_.file(name)); }

  pid_t pid_of_top() {
    return static_cast<pid_t>(std::stol(
        "0" + run("pgrep -o -P $(tmux -S ./socket list-panes -F '#{pane_pid}') memtrace").out));
  }

  void expect_to_have_ended(const std::string& status) {
    EXPECT_TRUE(wait_until([&] { return !read("after").empty(); }, std::chrono::seconds(20)));
    EXPECT_EQ(read("status"), status + "\n") << read("messages");
    EXPECT_EQ(read("after"), read("before")) << "the terminal's settings";
    EXPECT_TRUE(shows("the end")) << "the screen of before is back";
    EXPECT_EQ(screen().find("memtrace top"), std::string::npos) << screen();
    EXPECT_EQ(tmux("display -p '#{alternate_on} #{cursor_flag} #{mouse_any_flag}'").out, "0 1 0\n");
  }

  // What is there has as many lines as the terminal, none wider, and rows that are whole.
  void expect_to_fill(std::size_t columns, std::size_t lines) {
    const auto shown = lines_in(screen());
    ASSERT_EQ(shown.size(), lines);
    for (const std::string& line : shown) {
      EXPECT_LE(columns_of(line), columns) << line;
    }
    EXPECT_TRUE(shown.back().ends_with("q quit")) << shown.back();
  }
};

TEST_F(TopTest, panes_keys_and_sizes_of_a_terminal) {
  start_top("-a");
  ASSERT_TRUE(shows("processes: kernel memory, faults, resident memory")) << read("messages");
  press("/tmux:.serv Enter");
  ASSERT_TRUE(shows(" tmux: server")) << "a process with memory has a row\n" << screen();
  press("Escape");
  expect_to_fill(80, 24);
  EXPECT_NE(lines_in(screen()).at(3).find("pages/s*"), std::string::npos) << screen();
  press("3");
  EXPECT_TRUE(shows("slab caches, rates"));
  press("l");
  EXPECT_TRUE(shows("slab caches, live")) << screen();
  press("/zzz-no-such-cache Enter");
  EXPECT_TRUE(shows("0 rows with zzz-no-such-cache")) << screen();
  press("Escape 4");
  EXPECT_TRUE(shows("page faults by class")) << screen();
  press("b");
  EXPECT_TRUE(shows("page faults by process")) << screen();
  press("?");
  EXPECT_TRUE(shows("only rows that match a regular expression")) << screen();
  press("q 1");
  tmux("resize-window -x 120 -y 40");
  EXPECT_TRUE(shows("slab objects by stack")) << "40 lines have room for two panes\n" << screen();
  expect_to_fill(120, 40);
  tmux("resize-window -x 200 -y 60");
  EXPECT_TRUE(wait_until([&] { return lines_in(screen()).back().ends_with("q quit"); }));
  expect_to_fill(200, 60);
  press("q");
  expect_to_have_ended("0");
}

TEST_F(TopTest, a_count_of_screens_ends_it) {
  start_top("-n 2 -d 0.5");
  expect_to_have_ended("0");
}

TEST_F(TopTest, a_row_opens_with_its_whole_stack) {
  const auto load = start("while :; do $PUPPETS/many_kmallocs 20000; done >/dev/null");
  start_top("-a --pane stacks");
  press("/do_msgsnd Enter");
  ASSERT_TRUE(shows("load_msg < do_msgsnd")) << screen();
  press("Space");
  ASSERT_TRUE(shows("PAUSED")) << screen();
  press("Enter");
  EXPECT_TRUE(shows("one row of the interval")) << screen();
  EXPECT_TRUE(shows("do_syscall_64 [kernel]")) << screen();
  press("C-c");
  expect_to_have_ended("0");
}

TEST_F(TopTest, the_heap_of_a_process_is_a_pane) {
  // dash asks malloc(3) for its variables.
  const auto load = start("while :; do sleep 0.01; a=$a$a; a=${a:-word}; a=${a%a*}; done");
  start_top("-p " + std::to_string(load->pid()) + " --heap");
  ASSERT_TRUE(shows("6 heap")) << read("messages");
  press("h");
  EXPECT_TRUE(shows("heap calls by stack")) << screen();
  EXPECT_TRUE(shows(" < ")) << "stacks of its calls\n" << screen();
  press("b");
  EXPECT_TRUE(shows("live heap blocks by stack")) << screen();
  press("q");
  expect_to_have_ended("0");
}

TEST_F(TopTest, a_click_sorts_and_chooses_a_pane) {
  start_top("-a");
  ASSERT_TRUE(shows("pages/s*")) << screen();
  const std::string header = lines_in(screen()).at(3);
  const std::string column = std::to_string(header.find("kmalloc/s") + 1);
  press("-l $(printf '\\033[<0;" + column + ";4M')");
  EXPECT_TRUE(shows("kmalloc/s*")) << screen();
  press("-l $(printf '\\033[<0;26;2M')");
  EXPECT_TRUE(shows("slab caches")) << screen();
}

// A server of the test's own: its keys and its port, for this machine alone.
class TopOverSshTest : public TopTest {
 protected:
  void SetUp() override {
    TopTest::SetUp();
    if (!IsSkipped() && run("[ -x /usr/sbin/sshd ] && command -v ssh").status != 0) {
      GTEST_SKIP() << "sshd is not installed (Debian: openssh-server)";
    }
  }

  void TearDown() override {
    server_.reset();
    run("[ ! -e made ] || rmdir /run/sshd");
    TopTest::TearDown();
  }

  // The login is that of the test's user, by a key.
  void start_server() {
    run_well(
        "{ [ -d /run/sshd ] || { mkdir /run/sshd && touch made; }; } && ssh-keygen -q -t ed25519 "
        "-N \"\" -f host && "
        "ssh-keygen -q -t ed25519 -N \"\" -f user && cp user.pub keys && "
        "printf 'HostKey %s/host\\nAuthorizedKeysFile %s/keys\\nStrictModes no\\n"
        "PidFile none\\nUsePAM yes\\nPrintMotd no\\n' $PWD $PWD >config");
    for (int attempt = 0; port_.empty() && attempt < 20; ++attempt) {
      const std::string port = std::to_string(20000 + (::getpid() + 997 * attempt) % 20000);
      server_ =
          start("exec /usr/sbin/sshd -D -e -f $PWD/config -o ListenAddress=127.0.0.1:" + port +
                " 2>server");
      if (wait_until([&] { return !read("server").empty(); }) &&
          read("server").find("Server listening") != std::string::npos) {
        port_ = port;
      }
    }
    ASSERT_FALSE(port_.empty()) << read("server");
  }

  std::string ssh() const {
    return "ssh -tt -p " + port_ +
           " -i user -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=known "
           "-o LogLevel=ERROR 127.0.0.1 ";
  }

 private:
  std::unique_ptr<Background> server_;
  std::string port_;
};

TEST_F(TopOverSshTest, it_fills_the_terminal_and_follows_its_size) {
  start_server();
  open_terminal(80, 24, ssh() + "\"$MEMTRACE\" top -a; echo $? >status; echo the end; sleep 60");
  ASSERT_TRUE(shows("processes: kernel memory, faults, resident memory"))
      << screen() << read("server");
  expect_to_fill(80, 24);
  press("3");
  EXPECT_TRUE(shows("slab caches, rates")) << screen();
  tmux("resize-window -x 120 -y 40");
  EXPECT_TRUE(wait_until([&] { return lines_in(screen()).back().ends_with("q quit"); }));
  expect_to_fill(120, 40);
  press("q");
  EXPECT_TRUE(shows("the end")) << screen();
  EXPECT_EQ(read("status"), "0\n");
}

TEST_F(TopTest, signals_give_the_terminal_back) {
  start_top("-a");
  ASSERT_TRUE(shows("pages/s*")) << screen();
  ASSERT_GT(pid_of_top(), 0);
  ::kill(pid_of_top(), SIGTERM);
  expect_to_have_ended("0");
}

TEST_F(TopTest, even_a_kill_gives_the_terminal_back) {
  start_top("-a");
  ASSERT_TRUE(shows("pages/s*")) << screen();
  ASSERT_GT(pid_of_top(), 0);
  ::kill(pid_of_top(), SIGKILL);
  ASSERT_TRUE(wait_until([&] { return !read("status").empty(); }));
  EXPECT_EQ(read("status"), "137\n");
  EXPECT_TRUE(shows("the end"));
  EXPECT_TRUE(wait_until([&] {
    return run("stty -g -F $(tmux -S ./socket display -p '#{pane_tty}')").out == read("before");
  })) << "the child restores it, after the shell went on";
  EXPECT_EQ(tmux("display -p '#{alternate_on} #{cursor_flag} #{mouse_any_flag}'").out, "0 1 0\n");
}

TEST_F(TopTest, a_hostile_name_cannot_write_on_the_screen) {
  const std::string name = "\"$(printf 'x\\033[2Jx')\"";
  const auto hostile = start("cp $PUPPETS/many_kmallocs " + name + "; while :; do ./" + name +
                             " 2000; done >/dev/null");
  start_top("-a --sort kmalloc");
  EXPECT_TRUE(shows("x\\x1b[2Jx")) << screen();
  EXPECT_NE(screen().find("memtrace top"), std::string::npos) << "nothing has cleared it";
}

TEST_F(TopTest, batch_prints_each_interval_into_a_pipe) {
  const Outcome outcome = run_well("$MEMTRACE top --batch -n 2 -d 0.5 --top 5 --width 80 | cat");
  const auto lines = lines_in(outcome.out);
  EXPECT_EQ(std::ranges::count_if(
                lines, [](const std::string& line) { return line.starts_with("memtrace top  "); }),
            2)
      << outcome.out;
  EXPECT_LE(lines.size(), 2U * (3 + 5 + 1)) << outcome.out;
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
}

TEST_F(TopTest, batch_counts_what_was_allocated) {
  const auto load = start("sleep 1; $PUPPETS/many_kmallocs 10000");
  const Outcome outcome =
      run_well("$MEMTRACE top -b -n 1 -d 4 --pane processes --sort kmalloc --comm many_kmallocs");
  // 10,000 messages of 2 KiB within 4 s.
  EXPECT_NE(outcome.out.find(" 4.9 MiB"), std::string::npos) << outcome.out;
}

TEST_F(TopTest, without_a_terminal_it_says_what_to_do) {
  const Outcome pipe = run("$MEMTRACE top | cat; $MEMTRACE top >/dev/null");
  EXPECT_NE(pipe.status, 0);
  EXPECT_TRUE(pipe.says("standard output is no terminal")) << pipe.all();
  EXPECT_TRUE(pipe.says("--batch")) << pipe.all();
  const Outcome dumb = tmux("new-session -d 'TERM=dumb $MEMTRACE top 2>messages; echo $? >status'");
  EXPECT_EQ(dumb.status, 0) << dumb.all();
  EXPECT_TRUE(wait_until([&] { return !read("status").empty(); }));
  EXPECT_NE(read("messages").find("TERM is 'dumb'"), std::string::npos) << read("messages");
}

}  // namespace
}  // namespace memtrace::test
