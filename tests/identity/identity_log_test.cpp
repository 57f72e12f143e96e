#include "identity/identity_log.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

class IdentityLogTest : public testing::Test {
 protected:
  std::string identity(std::uint32_t pid) const {
    const IdentityId id = world_.identity_of(pid);
    return id.valid()
               ? world_.identities().user(id) + " " + std::string(world_.identities().cgroup(id))
               : "nobody knows";
  }

  World world_{{}};
  Recording recording_;
  IdentityReplay replay_{world_, recording_};
  IdentityLog log_;
};

TEST_F(IdentityLogTest, what_was_written_is_true_from_its_time_on) {
  log_.name_user(1000, "anna");
  log_.add({0, 7, 0, "/"});
  log_.add({50, 7, 1000, "/user slice"});
  recording_.identities = log_.text();
  replay_.advance(49);
  EXPECT_EQ(identity(7), "0 /");
  replay_.advance(50);
  EXPECT_EQ(identity(7), "anna /user slice");
  EXPECT_TRUE(replay_.has_any());
}

TEST_F(IdentityLogTest, a_path_is_written_once) {
  log_.add({0, 7, 0, "/long/path"});
  log_.add({0, 8, 0, "/long/path"});
  const std::string& text = log_.text();
  EXPECT_EQ(text.find("/long/path"), text.rfind("/long/path"));
}

TEST_F(IdentityLogTest, a_pipe_brings_it_in_pieces_that_may_end_within_a_line) {
  log_.add({0, 7, 0, "/a"});
  const std::string first(log_.news());
  log_.add({5, 7, 3, "/b"});
  const std::string second(log_.news());
  EXPECT_TRUE(log_.news().empty());
  EXPECT_EQ(first + second, log_.text());
  recording_.identities = first + second.substr(0, second.size() - 3);
  replay_.advance(10);
  EXPECT_EQ(identity(7), "0 /a");
  recording_.identities = first + second;
  replay_.advance(10);
  EXPECT_EQ(identity(7), "3 /b");
}

// A recording may hold anything: in proportion to the product of their lengths this takes hours,
// and more memory than there is.
TEST_F(IdentityLogTest, long_path_is_kept_once_and_a_line_without_an_end_is_read_once) {
  recording_.identities = "cgroup 1 /" + std::string(std::size_t{4} << 20U, 'x') + "\n";
  constexpr std::uint32_t kTasks = 100'000;
  for (std::uint32_t pid = 1; pid <= kTasks; ++pid) {
    recording_.identities += "task 5 " + std::to_string(pid) + " 1000 1\n";
  }
  recording_.identities += std::string(std::size_t{1} << 20U, 'x');
  for (std::uint64_t time_ns = 0; time_ns < kTasks; ++time_ns) {
    replay_.advance(time_ns);
  }
  EXPECT_TRUE(identity(1).starts_with("1000 /xxx"));
  EXPECT_EQ(identity(kTasks), identity(1));
  EXPECT_LE(identity(1).size(), 5000U);
}

TEST_F(IdentityLogTest, what_is_not_known_is_written_as_such) {
  log_.add({0, 7, 1000, "/a"});
  log_.add({10, 7, kUnknownUser, "/a"});
  log_.add({20, 7, 1000, ""});
  recording_.identities = log_.text();
  EXPECT_NE(recording_.identities.find("task 10 7 - 1\ntask 20 7 1000 -\n"), std::string::npos);
  replay_.advance(10);
  EXPECT_FALSE(world_.identities().knows_user(world_.identity_of(7)));
  EXPECT_EQ(identity(7), " /a");
  replay_.advance(20);
  EXPECT_FALSE(world_.identities().knows_cgroup(world_.identity_of(7)));
  EXPECT_EQ(identity(7), "1000 ");
}

// A child has no line of its own as long as it is what its parent was.
TEST_F(IdentityLogTest, next_file_knows_the_processes_that_run_and_no_others) {
  log_.name_user(1000, "anna");
  log_.add({0, 7, 1000, "/a"});
  log_.add({0, 9, 1000, "/gone"});
  log_.add({60, 7, 0, "/later"});
  recording_.identities = log_.text();
  replay_.advance(10);
  world_.fork({.pid = 8, .parent_pid = 7, .tid = 8, .parent_tid = 7});
  world_.exit(9, 9);
  log_.begin_file(50, world_);
  EXPECT_EQ(log_.text().find("task 0 "), std::string::npos) << log_.text();
  EXPECT_TRUE(log_.news().empty());
  log_.add({70, 10, 1000, "/gone"});

  World world{{}};
  Recording next;
  next.identities = log_.text();
  IdentityReplay replay(world, next);
  const auto identity_in = [&world](std::uint32_t pid) {
    const IdentityId id = world.identity_of(pid);
    return id.valid() ? world.identities().user(id) + std::string(world.identities().cgroup(id))
                      : "nobody knows";
  };
  replay.advance(50);
  EXPECT_EQ(identity_in(7), "anna/a");
  EXPECT_EQ(identity_in(8), "anna/a");
  EXPECT_EQ(identity_in(9), "nobody knows");
  replay.advance(60);
  EXPECT_EQ(identity_in(7), "0/later");
  replay.advance(70);
  EXPECT_EQ(identity_in(10), "anna/gone");
}

TEST_F(IdentityLogTest, commands_are_of_the_program_that_runs_from_then_on) {
  const auto command = [this] {
    const LifeId life = world_.processes().process(7).life;
    return std::string(world_.strings().at(world_.processes().lives().at(life).command));
  };
  log_.add_command({.time_ns = 0, .pid = 7, .parent_pid = 1, .command = "sh -c x"});
  log_.add_command({.time_ns = 51, .pid = 7, .parent_pid = 1, .command = "x --of y"});
  recording_.identities = log_.text();
  replay_.advance(50);
  EXPECT_EQ(command(), "sh -c x");
  const LifeId before = world_.processes().process(7).life;
  world_.exec(7);
  EXPECT_EQ(command(), "");
  replay_.advance(51);
  EXPECT_EQ(command(), "x --of y");
  EXPECT_EQ(world_.strings().at(world_.processes().lives().at(before).command), "sh -c x");
}

TEST_F(IdentityLogTest, next_file_knows_the_commands_of_those_that_run) {
  log_.add_command({.time_ns = 0, .pid = 7, .parent_pid = 1, .command = "sh -c x"});
  log_.add_command({.time_ns = 60, .pid = 8, .parent_pid = 7, .command = "later"});
  recording_.identities = log_.text();
  replay_.advance(10);
  log_.begin_file(50, world_);
  EXPECT_EQ(log_.text(), "process 50 7 1 sh -c x\nprocess 60 8 7 later\n");
}

TEST_F(IdentityLogTest, lines_that_are_not_understood_are_passed_over) {
  recording_.identities =
      "novelty 1 2 3\n\ntask\ntask 1 x 0 1\ntask 1 7 99999999999 1\nuser\ncgroup 1 /a\n"
      "task 1 9 2 1\n";
  replay_.advance(10);
  EXPECT_EQ(identity(7), "nobody knows");
  EXPECT_EQ(identity(9), "2 /a");
}

TEST_F(IdentityLogTest, a_recording_without_a_log_says_nothing) {
  replay_.advance(10);
  EXPECT_FALSE(replay_.has_any());
  EXPECT_EQ(identity(7), "nobody knows");
}

}  // namespace
}  // namespace memtrace
