// Twelve problems of production machines, made for real: after a plain recording of the machine,
// the first screen names who made the problem.
#include <chrono>
#include <optional>

#include "live/memory_group.h"
#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

class FirstScreenLiveTest : public PressureTest {
 protected:
  // "make_trouble NAME HOW", in the background of a shell that ends after `seconds`: what the
  // puppet holds is still there then.
  std::string trouble(const std::string& words, const std::string& group = "") const {
    return group + "$PUPPETS/make_trouble " + words + " >/dev/null 2>&1";
  }

  // In the background of a shell: what the puppet holds is still there when that ends.
  void record_machine(const std::string& script, int seconds) {
    run_well("$MEMTRACE record -a -- sh -c '" + script + " & sleep " + std::to_string(seconds) +
             "'");
    screen_ = run("$MEMTRACE report").out;
  }

  // A sentence of the first screen that has all of these words.
  bool says(const std::vector<std::string>& words) {
    const Json found = Json::parse(run("$MEMTRACE report --format json").out);
    for (const Json& row : found.at("tables").at(0).at("rows")) {
      const std::string sentence = row.at("finding");
      if (std::ranges::all_of(words, [&sentence](const std::string& word) {
            return sentence.find(word) != std::string::npos;
          })) {
        return true;
      }
    }
    return false;
  }

  void expect_one_screen() { EXPECT_LE(std::ranges::count(screen_, '\n'), 60) << screen_; }

  void expect_finding(const std::vector<std::string>& words) {
    EXPECT_TRUE(says(words)) << screen_;
    expect_one_screen();
  }

  std::string screen_;
};

TEST_F(FirstScreenLiveTest, kills_in_a_container_that_starts_again_and_again) {
  const MemoryGroup group(dir_.path(), 32 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  group.forbid_swap();
  run("$MEMTRACE record -a -- sh -c 'for i in 1 2 3; do " +
      trouble("mt-kills again 20000", group.enter()) + "; done; true'");
  screen_ = run("$MEMTRACE report").out;
  EXPECT_EQ(group.kills(), 3U);
  expect_finding({"The OOM killer killed mt-kills 3 times in cgroup", "32.0 MiB"});
}

TEST_F(FirstScreenLiveTest, dentries_of_names_that_do_not_exist) {
  record_machine(trouble("mt-dentries dentries 100000"), 2);
  expect_finding({"mt-dentries allocated", "slab cache dentry"});
}

TEST_F(FirstScreenLiveTest, file_that_the_page_cache_cannot_keep) {
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  record_machine(trouble("mt-reread reread file 16384", group.enter()), 4);
  expect_finding({"mt-reread waited", "cgroup reclaim"});
  expect_finding({"mt-reread put", "into the page cache, most of", "times over"});
}

TEST_F(FirstScreenLiveTest, huge_pages_that_take_long) {
  record_machine(trouble("mt-huge huge 200"), 2);
  expect_finding({"mt-huge waited", "huge pages served"});
}

TEST_F(FirstScreenLiveTest, two_services_that_swap) {
  const SwapFile swap(dir_.path() + "/swap", 256);
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  if (!swap.usable() || !group.usable()) {
    GTEST_SKIP() << "no swap file or no memory cgroup can be made here";
  }
  record_machine(trouble("mt-swap-a again 8000", group.enter()) + " & " +
                     trouble("mt-swap-b again 8000", group.enter()),
                 5);
  expect_finding({"mt-swap-a waited", "for swap"});
  expect_finding({"mt-swap-b waited", "for swap"});
}

TEST_F(FirstScreenLiveTest, copies_after_fork) {
  record_machine(trouble("mt-fork fork 20000"), 2);
  expect_finding({"mt-fork copied", "copy on write"});
}

TEST_F(FirstScreenLiveTest, sockets_that_nobody_closes) {
  record_machine(trouble("mt-sockets sockets 20000"), 3);
  expect_finding({"mt-sockets allocated", "of sockets"});
}

TEST_F(FirstScreenLiveTest, tmpfs_that_grows) {
  const std::string file = "/dev/shm/memtrace_test_" + std::to_string(::getpid());
  record_machine(trouble("mt-tmpfs tmpfs " + file + " 20000"), 2);
  run("rm -f " + file);
  expect_finding({"mt-tmpfs allocated", "of tmpfs and shared memory"});
  expect_finding({file + " on tmpfs grew by 78.1 MiB"});
}

TEST_F(FirstScreenLiveTest, locked_memory) {
  record_machine(trouble("mt-lock lock 20000"), 2);
  expect_finding({"mt-lock allocated", "of locked memory"});
}

TEST_F(FirstScreenLiveTest, pages_of_hugetlb) {
  const Setting pool("/proc/sys/vm/nr_hugepages");
  pool.set(64);
  if (text_of("/proc/sys/vm/nr_hugepages") != "64\n") {
    GTEST_SKIP() << "no 64 huge pages can be had now";
  }
  record_machine(trouble("mt-hugetlb hugetlb 60"), 2);
  expect_finding({"mt-hugetlb waited", "60 huge pages served"});
}

TEST_F(FirstScreenLiveTest, memory_mapped_and_unmapped_all_the_time) {
  record_machine(trouble("mt-map map 100000"), 3);
  expect_finding({"mt-map made", "mappings"});
}

TEST_F(FirstScreenLiveTest, reclaim_in_a_cgroup_at_its_limit) {
  const MemoryGroup group(dir_.path(), 16 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  record_machine(trouble("mt-reclaim dirty file 60000", group.enter()), 4);
  expect_finding({"mt-reclaim waited", "cgroup reclaim"});
}

TEST_F(FirstScreenLiveTest, writers_faster_than_the_disk) {
  const Setting background_ratio("/proc/sys/vm/dirty_background_ratio");
  const Setting ratio("/proc/sys/vm/dirty_ratio");
  const Setting background_bytes("/proc/sys/vm/dirty_background_bytes");
  const Setting bytes("/proc/sys/vm/dirty_bytes");
  if (text_of("/proc/sys/vm/dirty_bytes") != "0\n") {
    GTEST_SKIP() << "vm.dirty_bytes is in use here";
  }
  background_bytes.set(kMebibyte / 4);
  bytes.set(kMebibyte / 2);
  // A writer on a busy processor may be slower than the disk, and is then not made to wait.
  const std::vector<std::string> words = {"mt-dirty waited", "throttles who dirties pages"};
  bool is_found = false;
  for (int attempt = 0; attempt < 4 && !is_found; ++attempt) {
    record_machine(trouble("mt-dirty dirty file 60000"), 4);
    is_found = says(words);
  }
  EXPECT_TRUE(is_found) << screen_;
  expect_one_screen();
}

}  // namespace
}  // namespace memtrace::test
