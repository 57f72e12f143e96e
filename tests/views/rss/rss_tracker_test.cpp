#include "views/rss/rss_tracker.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr std::uint32_t kMm = 7;
constexpr std::uint32_t kShell = 100;
constexpr std::uint32_t kChild = 200;

class RssTrackerTest : public testing::Test {
 protected:
  RssTrackerTest() {
    processes_.process(kShell);
    processes_.process(kChild);
  }

  std::optional<RssTracker::Change> change(std::uint32_t pid,
                                           std::uint64_t bytes,
                                           bool is_of_task = true,
                                           std::uint32_t mm = kMm) {
    const RssStat stat{
        .mm_id = mm, .is_of_task = is_of_task, .member = RssMember::Anonymous, .bytes = bytes};
    return tracker_.apply(pid, stat, processes_);
  }

  RssTracker tracker_;
  ProcessTable processes_;
};

TEST_F(RssTrackerTest, owner_is_who_changes_it_as_its_own) {
  EXPECT_FALSE(change(kShell, 4096));
  const auto taken = change(kChild, 1024, false);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->pid, kShell);
  EXPECT_EQ(taken->shrunk_bytes, 3072U);
  EXPECT_FALSE(taken->by_owner);
  EXPECT_TRUE(change(kShell, 8192)->by_owner);
}

TEST_F(RssTrackerTest, what_follows_in_the_place_of_one_that_has_ended_is_anothers) {
  change(kShell, 1'000'000);
  processes_.exit(kShell, kShell);
  EXPECT_EQ(change(kShell, 900'000, false)->shrunk_bytes, 100'000U) << "it gives its pages back";
  EXPECT_FALSE(change(kChild, 4096, false)) << "arguments of another, in a new address space";
  const auto grown = change(kChild, 8192);
  ASSERT_TRUE(grown);
  EXPECT_EQ(grown->pid, kChild);
  EXPECT_EQ(grown->grown_bytes, 4096U);
  EXPECT_EQ(grown->shrunk_bytes, 0U);
}

TEST_F(RssTrackerTest, so_is_what_follows_in_the_place_of_one_that_runs_another_program) {
  change(kShell, 1'000'000);
  change(kShell, 4096, true, 9);
  EXPECT_FALSE(change(kChild, 4096));
  EXPECT_TRUE(change(kChild, 8192)->by_owner);
}

TEST_F(RssTrackerTest, child_of_vfork_changes_its_parents) {
  change(kShell, 1'000'000);
  EXPECT_EQ(change(kChild, 1'004'096)->pid, kShell);
  change(kChild, 4096, true, 9);
  const auto back = change(kShell, 996'000);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->pid, kShell);
  EXPECT_TRUE(back->by_owner);
}

}  // namespace
}  // namespace memtrace
