#include "os/own/own_protection.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "os/system.h"
#include "support/sanitized.h"

namespace memtrace {
namespace {

int own_score() {
  int score = 0;
  std::ifstream("/proc/self/oom_score_adj") >> score;
  return score;
}

// A child's, which changes nothing of ours.
bool holds_in_child(const std::function<bool()>& claim) {
  const auto child = ::fork();
  if (child == 0) {
    ::_exit(claim() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A process may lower its own value again as far as it was before a privileged one raised it.
TEST(OwnProtection, oom_score_adj_is_as_low_as_the_kernel_allows) {
  const int before = own_score();
  EXPECT_TRUE(holds_in_child([before] {
    std::ofstream("/proc/self/oom_score_adj") << 700 << std::flush;
    const std::string refused = pass_over_by_oom_killer();
    return refused.empty() ? own_score() == -1000
                           : own_score() <= before && own_score() > -1000 &&
                                 refused.ends_with("and it is " + std::to_string(own_score()));
  }));
}

TEST(OwnProtection, refused_lock_says_why_and_how_much_is_allowed) {
  if (test::kIsSanitized) {
    GTEST_SKIP() << "AddressSanitizer answers mlockall(2) itself";
  }
  EXPECT_TRUE(holds_in_child([] {
    const rlimit little{std::size_t{64} << 10, std::size_t{64} << 10};
    if (::setrlimit(RLIMIT_MEMLOCK, &little) != 0) {
      return false;
    }
    if (::geteuid() == 0 && ::setuid(65534) != 0) {  // nobody has no CAP_IPC_LOCK
      return false;
    }
    const std::string refused = lock_own_memory();
    return refused.starts_with("memtrace's memory may be swapped out: mlockall: ") &&
           refused.find("ulimit -l allows 64.0 KiB") != std::string::npos;
  }));
}

// Without descriptors there is no pipe to a child. That must not look like a machine that refuses
// nothing.
TEST(OwnProtection, what_cannot_be_tried_is_not_said_to_work) {
  EXPECT_TRUE(holds_in_child([] {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) {
      return false;
    }
    const RefusedProtection refused = try_protection(page_size_bytes());
    return refused.by_oom_killer.starts_with("it could not be tried") &&
           refused.locked_memory.starts_with("it could not be tried");
  }));
}

TEST(OwnProtection, anonymous_is_what_is_resident_and_not_shared) {
  EXPECT_EQ(anonymous_bytes("300 200 60 40 0 90 0\n"), 140 * page_size_bytes());
  EXPECT_EQ(anonymous_bytes("300 60 60 40 0 90 0\n"), 0U);
  EXPECT_EQ(anonymous_bytes("300"), 0U);
  EXPECT_EQ(anonymous_bytes(""), 0U);
}

TEST(OwnProtection, anonymous_memory_is_what_was_touched) {
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  const std::size_t before = own_anonymous_bytes();
  void* const memory = ::mmap(
      nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_GE(own_anonymous_bytes(), before + kBytes * 3 / 4);
  ::munmap(memory, kBytes);
}

}  // namespace
}  // namespace memtrace
