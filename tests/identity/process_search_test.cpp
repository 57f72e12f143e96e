#include "identity/process_search.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

namespace memtrace {
namespace {

using Pids = std::vector<std::uint32_t>;

class ProcessSearchTest : public testing::Test {
 protected:
  Result<Pids> find(const ProcessSearch& search) { return find_processes(search, running_); }

  Pids found(const ProcessSearch& search) {
    const auto pids = find(search);
    return pids.ok() ? pids.value() : Pids();
  }

  std::map<std::uint32_t, SeenProcess> seen_ = {
      {30, {.uid = 33, .cgroup = "/system.slice/php-fpm.service"}},
      {20, {.uid = 33, .cgroup = "/user.slice"}},
      {10, {.uid = 0, .cgroup = "/system.slice/php-fpm.service"}},
      {40, {.uid = 33, .cgroup = "/", .ended = true}},
  };
  RunningProcesses running_ = {
      .pids = {30, 20, 10, 40, 50},  // 50 has ended since
      .read = [this](std::uint32_t pid) -> std::optional<SeenProcess> {
        const auto at = seen_.find(pid);
        return at == seen_.end() ? std::nullopt : std::optional(at->second);
      },
      .passwd = "root:x:0:0::/root:/bin/sh\nwww-data:x:33:33::/var/www:/bin/false\n"};
};

TEST_F(ProcessSearchTest, a_user_is_a_name_or_a_number) {
  EXPECT_EQ(found({.users = {"www-data"}}), (Pids{20, 30}));
  EXPECT_EQ(found({.users = {"33"}}), (Pids{20, 30}));
  EXPECT_EQ(found({.users = {"root", "33"}}), (Pids{10, 20, 30}));
}

TEST_F(ProcessSearchTest, a_cgroup_is_a_part_of_its_path) {
  EXPECT_EQ(found({.cgroups = {"php-fpm"}}), (Pids{10, 30}));
  EXPECT_EQ(found({.users = {"root"}, .cgroups = {"php-fpm", "user.slice"}}), (Pids{10}));
}

TEST_F(ProcessSearchTest, a_user_that_is_not_known_is_no_empty_search) {
  const auto pids = find({.users = {"wwwdata"}});
  ASSERT_FALSE(pids.ok());
  EXPECT_EQ(pids.error().message, "unknown user 'wwwdata'");
}

TEST_F(ProcessSearchTest, a_number_that_no_user_can_have_is_not_cut_to_roots) {
  const auto pids = find({.users = {"4294967296"}});
  ASSERT_FALSE(pids.ok());
  EXPECT_EQ(pids.error().message, "unknown user '4294967296'");
}

TEST_F(ProcessSearchTest, nobody_found_is_an_error) {
  const auto pids = find({.users = {"root"}, .cgroups = {"user.slice"}});
  ASSERT_FALSE(pids.ok());
  EXPECT_EQ(pids.error().message,
            "no process of user root in a cgroup with user.slice in its path runs");
}

TEST(RunningProcesses, are_neither_memtrace_nor_kernel_threads) {
  const auto running = RunningProcesses::now();
  EXPECT_FALSE(running.pids.empty());
  for (const std::uint32_t pid : running.pids) {
    EXPECT_NE(pid, static_cast<std::uint32_t>(::getpid()));
    EXPECT_NE(pid, 2U) << "kthreadd";
  }
}

}  // namespace
}  // namespace memtrace
