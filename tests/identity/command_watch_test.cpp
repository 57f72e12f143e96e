#include "identity/command_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

namespace memtrace {
namespace {

using namespace std::string_literals;

Record exec_record(std::uint64_t time_ns, std::uint32_t pid, std::string_view name) {
  Record record{.payload = Comm{.pid = pid, .tid = pid, .exec = true, .name = name}};
  record.stamp.time_ns = time_ns;
  return record;
}

class CommandWatchTest : public testing::Test {
 protected:
  std::string command(std::uint32_t pid) const {
    const Life& life = world_.processes().lives().at(world_.processes().find(pid)->life);
    return std::to_string(life.parent_pid) + " " + std::string(world_.strings().at(life.command));
  }

  std::map<std::uint32_t, SeenCommand> seen_;
  World world_{{}};
  IdentityLog log_;
  CommandWatch watch_{world_, log_, [this](std::uint32_t pid) -> std::optional<SeenCommand> {
                        const auto found = seen_.find(pid);
                        return found == seen_.end() ? std::nullopt : std::optional(found->second);
                      }};
};

TEST_F(CommandWatchTest, arguments_are_on_one_line) {
  EXPECT_EQ(one_line("sh\0-c\0echo 1\necho 2\0"s), "sh -c echo 1 echo 2");
  EXPECT_EQ(one_line(""), "");
  EXPECT_EQ(one_line(std::string(5000, 'x')).size(), 1024U);
}

TEST_F(CommandWatchTest, those_that_run_are_read_once) {
  seen_[7] = {.parent_pid = 1, .comm = "sshd", .command = "sshd -D"};
  const Target target{.kind = TargetKind::Processes,
                      .ids = {static_cast<std::uint32_t>(::getpid())}};
  seen_[target.ids[0]] = {.parent_pid = 1, .comm = "me", .command = "me too"};
  watch_.read_all(target);
  EXPECT_EQ(command(target.ids[0]), "1 me too");
  const std::string once = log_.text();
  watch_.read_all(target);
  EXPECT_EQ(log_.text(), once);
  EXPECT_EQ(once.find("sshd"), std::string::npos) << "it is not watched";
}

TEST_F(CommandWatchTest, an_exec_has_new_arguments) {
  seen_[7] = {.parent_pid = 3, .comm = "cc1", .command = "cc1 a.c"};
  world_.exec(7);
  watch_.after(exec_record(50, 7, "cc1"));
  EXPECT_EQ(command(7), "3 cc1 a.c");
  EXPECT_NE(log_.text().find("process 51 7 3 cc1 a.c\n"), std::string::npos);
}

TEST_F(CommandWatchTest, what_runs_by_now_may_be_another_program) {
  seen_[7] = {.parent_pid = 3, .comm = "cc1", .command = "cc1 a.c"};
  world_.exec(7);
  watch_.after(exec_record(50, 7, "gcc"));
  EXPECT_EQ(command(7), "0 ");
  EXPECT_TRUE(log_.text().empty());
}

TEST_F(CommandWatchTest, a_process_of_this_machine_is_read) {
  const auto seen = read_command(static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->parent_pid, static_cast<std::uint32_t>(::getppid()));
  EXPECT_NE(seen->command.find(seen->comm), std::string::npos);
  EXPECT_FALSE(read_command(0));
}

}  // namespace
}  // namespace memtrace
