#include "identity/identity_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  EXPECT_TRUE(is_exiting(parse_stat("7 (a b) c) R 1 7 7 0 -1 4194564 80 0").value()));
  EXPECT_FALSE(is_exiting(parse_stat("7 (a b) c) R 1 7 7 0 -1 4194560 80 0").value()));
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

// What a kernel would announce.
class FakeAnnouncements final : public Announcements {
 public:
  explicit FakeAnnouncements(std::deque<Announcement>& coming) : coming_(coming) {}

  bool tell_users() const override { return true; }

  bool tell_cgroups() const override { return true; }

  std::vector<Announcement> take() override {
    std::vector<Announcement> all(coming_.begin(), coming_.end());
    coming_.clear();
    return all;
  }

 private:
  std::deque<Announcement>& coming_;
};

class IdentityWatchTest : public testing::Test {
 protected:
  using Kind = Announcement::Kind;

  IdentityWatchTest() { watch_.emplace(world_, setup()); }

  IdentityWatch::Setup setup() {
    IdentityWatch::Setup setup;
    setup.read = [this](std::uint32_t pid) -> std::optional<SeenProcess> {
      ++reads_[pid];
      const auto found = processes_.find(pid);
      return found == processes_.end() ? std::nullopt : std::optional(found->second);
    };
    setup.now_ns = [this] { return now_ns_; };
    return setup;
  }

  // From now on all is announced.
  void announce_all() {
    IdentityWatch::Setup all = setup();
    all.announcements = std::make_unique<FakeAnnouncements>(coming_);
    watch_.emplace(world_, std::move(all));
  }

  void announce(Announcement announcement) {
    coming_.push_back(std::move(announcement));
    watch_->before({.payload = Tick{}});
  }

  void sample(std::uint64_t time_ns, std::uint32_t pid) {
    watch_->before({.stamp = {.time_ns = time_ns}, .payload = Sample{.pid = pid, .tid = pid}});
  }

  void fork(std::uint64_t time_ns, std::uint32_t parent, std::uint32_t child) {
    watch_->before(
        {.stamp = {.time_ns = time_ns},
         .payload = Fork{.pid = child, .parent_pid = parent, .tid = child, .parent_tid = parent}});
    world_.fork({.pid = child, .parent_pid = parent, .tid = child, .parent_tid = parent});
  }

  void know(std::uint32_t pid, std::uint32_t uid, const std::string& cgroup) {
    const auto own = static_cast<std::uint32_t>(::getpid());
    processes_[own] = {.uid = uid, .cgroup = cgroup};
    watch_->read_all({.kind = TargetKind::Processes, .ids = {own}});
    EXPECT_EQ(pid, own);
  }

  static std::uint32_t own_pid() { return static_cast<std::uint32_t>(::getpid()); }

  // "5/a"; "?" for a user and "" for a cgroup that is not known.
  std::string identity(std::uint32_t pid) const {
    const IdentityTable& table = world_.identities();
    const IdentityId id = world_.identity_of(pid);
    if (!id.valid()) {
      return "";
    }
    return (table.knows_user(id) ? std::to_string(table.uid(id)) : "?") +
           std::string(table.cgroup(id));
  }

  // What /proc would show, and how often it was asked.
  std::map<std::uint32_t, SeenProcess> processes_;
  std::map<std::uint32_t, int> reads_;
  std::uint64_t now_ns_ = kSecond;
  std::deque<Announcement> coming_;
  World world_{{}};
  std::optional<IdentityWatch> watch_;
};

TEST_F(IdentityWatchTest, what_nobody_knew_is_known_from_when_it_was_read) {
  processes_[7] = {.uid = 5, .cgroup = "/a"};
  now_ns_ = kSecond + 50;
  sample(kSecond, 7);
  EXPECT_EQ(identity(7), "?") << "it may have changed before it was read";
  sample(kSecond + 49, 7);
  EXPECT_EQ(identity(7), "?");
  sample(kSecond + 50, 7);
  EXPECT_EQ(identity(7), "5/a");
  EXPECT_EQ(reads_[7], 1);
  EXPECT_NE(watch_->log().text().find("task 1000000050 7 5 "), std::string::npos);
}

TEST_F(IdentityWatchTest, a_child_that_is_what_its_parent_was_always_was) {
  know(own_pid(), 5, "/a");
  fork(kSecond, own_pid(), 8);
  processes_[8] = {.uid = 5, .cgroup = "/a"};
  sample(kSecond + 10, 8);
  EXPECT_EQ(identity(8), "5/a");
}

TEST_F(IdentityWatchTest, a_child_that_is_dead_before_it_was_read_is_not_taken_for_its_parents) {
  know(own_pid(), 5, "/a");
  fork(kSecond, own_pid(), 8);
  sample(kSecond + 10, 8);
  EXPECT_EQ(identity(8), "?");
  EXPECT_NE(watch_->log().text().find("task 1000000001 8 - -"), std::string::npos);
}

TEST_F(IdentityWatchTest, a_child_that_has_changed_is_known_in_part) {
  know(own_pid(), 0, "/a");
  fork(kSecond, own_pid(), 8);
  processes_[8] = {.uid = 33, .cgroup = "/a"};
  now_ns_ = kSecond + 100;
  sample(kSecond + 10, 8);
  EXPECT_EQ(identity(8), "?/a");
  sample(kSecond + 100, 8);
  EXPECT_EQ(identity(8), "33/a");
}

TEST_F(IdentityWatchTest, a_user_that_changes_unannounced_is_seen_within_a_second) {
  know(own_pid(), 0, "/");
  sample(kSecond, own_pid());
  processes_[own_pid()].uid = 33;
  sample(kSecond + kSecond / 2, own_pid());
  EXPECT_EQ(identity(own_pid()), "0/");
  now_ns_ = 2 * kSecond + 2;
  sample(2 * kSecond + 1, own_pid());
  sample(2 * kSecond + 2, own_pid());
  EXPECT_EQ(identity(own_pid()), "33/");
}

TEST_F(IdentityWatchTest, a_zombies_cgroup_is_not_believed) {
  know(own_pid(), 5, "/a");
  fork(kSecond, own_pid(), 8);
  processes_[8] = {.uid = 5, .cgroup = "/", .ended = true};
  sample(kSecond + 10, 8);
  sample(kSecond + 20, 8);
  EXPECT_EQ(identity(8), "5") << "its user stays what it was";
}

TEST_F(IdentityWatchTest, what_is_announced_is_inherited_and_nothing_is_read) {
  announce_all();
  know(own_pid(), 5, "/a");
  const int reads = reads_[own_pid()];
  fork(kSecond, own_pid(), 8);
  sample(kSecond + 10, 8);
  EXPECT_EQ(identity(8), "5/a");
  announce({.time_ns = kSecond + 20, .kind = Kind::Moved, .pid = 8, .cgroup = "/b"});
  announce({.time_ns = kSecond + 30, .kind = Kind::User, .pid = 8, .tid = 8, .uid = 33});
  sample(kSecond + 19, 8);
  EXPECT_EQ(identity(8), "5/a");
  sample(kSecond + 20, 8);
  EXPECT_EQ(identity(8), "5/b");
  sample(kSecond + 90, 8);
  EXPECT_EQ(identity(8), "33/b");
  fork(kSecond + 91, 8, 9);
  sample(90 * kSecond, 9);
  EXPECT_EQ(identity(9), "33/b");
  EXPECT_EQ(identity(own_pid()), "5/a");
  EXPECT_EQ(reads_[8] + reads_[9], 0);
  EXPECT_EQ(reads_[own_pid()], reads);
}

TEST_F(IdentityWatchTest, a_child_in_a_cgroup_that_was_not_told_is_read) {
  announce_all();
  know(own_pid(), 5, "/a");
  fork(kSecond, own_pid(), 8);
  announce({.time_ns = kSecond + 1, .kind = Kind::Moved, .pid = 8});
  sample(kSecond + 10, 8);
  EXPECT_EQ(identity(8), "5") << "nor is it its parent's";
  processes_[9] = {.uid = 5, .cgroup = "/c"};
  fork(kSecond + 20, own_pid(), 9);
  announce({.time_ns = kSecond + 21, .kind = Kind::Moved, .pid = 9});
  now_ns_ = kSecond + 60;
  sample(kSecond + 30, 9);
  EXPECT_EQ(identity(9), "5");
  sample(kSecond + 60, 9);
  EXPECT_EQ(identity(9), "5/c");
}

TEST_F(IdentityWatchTest, after_a_loss_only_what_proc_confirms_is_known) {
  announce_all();
  know(own_pid(), 5, "/a");
  fork(2 * kSecond, own_pid(), 8);
  fork(2 * kSecond, own_pid(), 9);
  watch_->before({.stamp = {.time_ns = 3 * kSecond}, .payload = Lost{.count = 1}});
  now_ns_ = 3 * kSecond + 10;
  processes_[8] = {.uid = 5, .cgroup = "/a"};
  sample(3 * kSecond + 1, 8);
  sample(3 * kSecond + 1, 9);
  EXPECT_EQ(identity(8), "5/a");
  EXPECT_EQ(identity(9), "?");
  sample(3 * kSecond + 2, 8);
  EXPECT_EQ(reads_[8], 1);
}

TEST_F(IdentityWatchTest, what_memtrace_drops_itself_leaves_no_doubt) {
  announce_all();
  know(own_pid(), 5, "/a");
  fork(2 * kSecond, own_pid(), 8);
  watch_->before({.stamp = {.time_ns = 3 * kSecond},
                  .payload = Lost{.count = 1, .reason = LossReason::Overload}});
  sample(3 * kSecond + 1, 8);
  EXPECT_EQ(identity(8), "5/a");
}

TEST_F(IdentityWatchTest, a_child_is_of_its_thread_s_user) {
  announce_all();
  know(own_pid(), 5, "/a");
  announce({.time_ns = kSecond, .kind = Kind::User, .pid = own_pid(), .tid = 900, .uid = 33});
  watch_->before({.stamp = {.time_ns = kSecond + 1},
                  .payload = Fork{.pid = 8, .parent_pid = own_pid(), .tid = 8, .parent_tid = 900}});
  world_.fork({.pid = 8, .parent_pid = own_pid(), .tid = 8, .parent_tid = 900});
  sample(kSecond + 10, 8);
  sample(kSecond + 10, own_pid());
  EXPECT_EQ(identity(8), "33/a");
  EXPECT_EQ(identity(own_pid()), "5/a");
}

TEST_F(IdentityWatchTest, a_cgroup_with_a_new_name_is_read) {
  announce_all();
  know(own_pid(), 5, "/top/a");
  announce({.time_ns = kSecond, .kind = Kind::Renamed, .cgroup = "/top/b"});
  processes_[own_pid()].cgroup = "/top/b";
  now_ns_ = kSecond + 5;
  sample(kSecond + 1, own_pid());
  EXPECT_EQ(identity(own_pid()), "5");
  sample(kSecond + 5, own_pid());
  EXPECT_EQ(identity(own_pid()), "5/top/b");
}

TEST_F(IdentityWatchTest, a_pid_that_is_used_again_is_another_process) {
  announce_all();
  know(own_pid(), 5, "/a");
  fork(kSecond, own_pid(), 8);
  announce({.time_ns = kSecond + 1, .kind = Kind::User, .pid = 8, .tid = 8, .uid = 33});
  sample(kSecond + 2, 8);
  EXPECT_EQ(identity(8), "33/a");
  fork(2 * kSecond, own_pid(), 8);
  sample(2 * kSecond + 1, 8);
  EXPECT_EQ(identity(8), "5/a");
}

TEST_F(IdentityWatchTest, threads_and_tasks_without_a_pid_are_not_looked_for) {
  sample(1, 0);
  sample(1, 0xffffffff);
  watch_->before({.payload = Fork{.pid = 7, .parent_pid = 7, .tid = 9, .parent_tid = 7}});
  EXPECT_TRUE(reads_.empty());
}

}  // namespace
}  // namespace memtrace
