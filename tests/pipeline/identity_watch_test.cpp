#include "pipeline/identity_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

namespace memtrace {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(ParseProcess, the_real_user_and_the_path_of_the_memory_controller) {
  const auto seen =
      parse_process("Name:\tx\nState:\tS (sleeping)\nUid:\t1000\t0\t0\t0\nGid:\t5\t5\t5\t5\n",
                    "9:name=systemd:/s\n4:cpu,memory:/m\n0::/two\n");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->uid, 1000U);
  EXPECT_EQ(seen->cgroup, "/m");
  EXPECT_FALSE(seen->ended);
}

TEST(ParseProcess, cgroups_of_version_two_or_else_of_systemd) {
  const auto path = [](std::string_view cgroups) {
    return parse_process("Uid:\t0\t0\t0\t0\n", cgroups)->cgroup;
  };
  EXPECT_EQ(path("0::/user.slice/a b.scope\n"), "/user.slice/a b.scope");
  EXPECT_EQ(path("3:name=systemd:/s\n1:cpu:/c\n"), "/s");
  EXPECT_EQ(path("0::/gone.service (deleted)\n"), "/gone.service");
  EXPECT_EQ(path("0::/with:colon\n"), "/with:colon");
  EXPECT_EQ(path(""), "");
}

TEST(ParseProcess, a_zombie_is_told_and_other_text_is_no_process) {
  EXPECT_TRUE(parse_process("State:\tZ (zombie)\nUid:\t1\t1\t1\t1\n", "")->ended);
  EXPECT_TRUE(is_exiting("7 (a b) c) R 1 7 7 0 -1 4194564 80 0"));
  EXPECT_FALSE(is_exiting("7 (a b) c) R 1 7 7 0 -1 4194560 80 0"));
  EXPECT_FALSE(is_exiting("7 (a"));
  EXPECT_FALSE(parse_process("State:\tS\n", ""));
  EXPECT_FALSE(parse_process("Uid:\tmany\n", ""));
}

TEST(ParsePasswd, names_by_uid_and_the_first_counts) {
  const auto names = parse_passwd(
      "root:x:0:0:root:/root:/bin/sh\ntoor:x:0:0::/:/bin/sh\nodd\n"
      "anna:x:1000:1000::/home/anna:/bin/sh\n");
  EXPECT_EQ(names.at(0), "root");
  EXPECT_EQ(names.at(1000), "anna");
  EXPECT_EQ(names.size(), 2U);
}

TEST(ReadProcess, finds_this_test_and_no_process_that_is_not_there) {
  const auto own = read_process(static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(own);
  EXPECT_EQ(own->uid, ::getuid());
  EXPECT_FALSE(read_process(0x7ffffffe));
}

class IdentityWatchTest : public testing::Test {
 protected:
  void sample(std::uint64_t time_ns, std::uint32_t pid) {
    watch_.before({.stamp = {.time_ns = time_ns}, .payload = Sample{.pid = pid, .tid = pid}});
  }

  void fork(std::uint32_t parent, std::uint32_t child) {
    watch_.before(
        {.payload = Fork{.pid = child, .parent_pid = parent, .tid = child, .parent_tid = parent}});
    world_.fork({.pid = child, .parent_pid = parent, .tid = child, .parent_tid = parent});
  }

  std::string identity(std::uint32_t pid) const {
    const IdentityId id = world_.identity_of(pid);
    return id.valid() ? std::to_string(world_.identities().uid(id)) +
                            std::string(world_.identities().cgroup(id))
                      : "";
  }

  // What /proc would show, and how often it was asked.
  std::map<std::uint32_t, SeenProcess> processes_;
  std::map<std::uint32_t, int> reads_;
  World world_{{}};
  IdentityWatch watch_{world_, [this](std::uint32_t pid) -> std::optional<SeenProcess> {
                         ++reads_[pid];
                         const auto found = processes_.find(pid);
                         return found == processes_.end() ? std::nullopt
                                                          : std::optional(found->second);
                       }};
};

TEST_F(IdentityWatchTest, a_process_is_read_at_its_first_event) {
  processes_[7] = {.uid = 5, .cgroup = "/a"};
  sample(kSecond, 7);
  sample(kSecond + 1, 7);
  EXPECT_EQ(identity(7), "5/a");
  EXPECT_EQ(reads_[7], 1);
  EXPECT_NE(watch_.log().text().find("task 1000000000 7 5 "), std::string::npos);
}

TEST_F(IdentityWatchTest, a_child_that_is_dead_before_it_was_read_has_its_parents) {
  processes_[7] = {.uid = 5, .cgroup = "/a"};
  sample(1, 7);
  fork(7, 8);
  const std::string before = watch_.log().text();
  sample(2, 8);
  EXPECT_EQ(identity(8), "5/a");
  EXPECT_EQ(watch_.log().text(), before) << "a reader inherits it, too";
}

TEST_F(IdentityWatchTest, after_execve_it_is_read_again) {
  processes_[7] = {.uid = 0, .cgroup = "/"};
  sample(1, 7);
  processes_[7] = {.uid = 33, .cgroup = "/www.service"};
  watch_.before({.payload = Comm{.pid = 7, .tid = 7, .exec = true, .name = "www"}});
  EXPECT_EQ(identity(7), "33/www.service");
  fork(7, 8);
  EXPECT_EQ(identity(8), "33/www.service");
}

TEST_F(IdentityWatchTest, a_user_that_changes_without_execve_is_seen_within_a_second) {
  processes_[7] = {.uid = 0, .cgroup = "/"};
  sample(1, 7);
  processes_[7].uid = 33;
  sample(kSecond / 2, 7);
  EXPECT_EQ(identity(7), "0/");
  sample(kSecond + 1, 7);
  EXPECT_EQ(identity(7), "33/");
}

TEST_F(IdentityWatchTest, what_ran_before_is_read_once_and_then_now_and_then) {
  processes_[7] = {.uid = 5, .cgroup = "/a"};
  processes_[static_cast<std::uint32_t>(::getpid())] = {.uid = 6, .cgroup = "/b"};
  const auto own = static_cast<std::uint32_t>(::getpid());
  watch_.read_all({.kind = TargetKind::Processes, .ids = {own}});
  EXPECT_EQ(identity(own), "6/b");
  sample(40 * kSecond, own);
  EXPECT_EQ(reads_[own], 1);
  sample(42 * kSecond, own);
  EXPECT_EQ(reads_[own], 2);
}

TEST_F(IdentityWatchTest, a_zombies_cgroup_is_not_believed) {
  processes_[7] = {.uid = 5, .cgroup = "/a"};
  sample(1, 7);
  processes_[7] = {.uid = 5, .cgroup = "/", .ended = true};
  sample(2 * kSecond, 7);
  EXPECT_EQ(identity(7), "5/a");
}

TEST_F(IdentityWatchTest, a_pid_that_is_used_again_is_read_again) {
  processes_[7] = {.uid = 5, .cgroup = "/a"};
  sample(1, 7);
  processes_[7] = {.uid = 6, .cgroup = "/b"};
  fork(3, 7);
  sample(2, 7);
  EXPECT_EQ(identity(7), "6/b");
}

TEST_F(IdentityWatchTest, threads_and_tasks_without_a_pid_are_not_looked_for) {
  sample(1, 0);
  sample(1, 0xffffffff);
  watch_.before({.payload = Fork{.pid = 7, .parent_pid = 7, .tid = 9, .parent_tid = 7}});
  EXPECT_TRUE(reads_.empty());
}

}  // namespace
}  // namespace memtrace
