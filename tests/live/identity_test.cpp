// Users and cgroups of processes, also of those that end before anybody can look at them.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

// A cgroup of the memory controller below this test's own, named by its pid; gone in the end.
class OwnCgroup {
 public:
  OwnCgroup() {
    std::ifstream lines("/proc/self/cgroup");
    for (std::string line; std::getline(lines, line);) {
      const std::string path = line.substr(line.rfind(':') + 1);
      const bool first = line.find(":memory:") != std::string::npos;
      if (first || (line.starts_with("0::") && parent_.empty())) {
        root_ = first ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
        parent_ = path == "/" ? "" : path;
      }
    }
    name_ = "memtrace_test_" + std::to_string(::getpid());
    made_ = ::mkdir(folder().c_str(), 0755) == 0;
  }

  OwnCgroup(const OwnCgroup&) = delete;
  OwnCgroup& operator=(const OwnCgroup&) = delete;

  ~OwnCgroup() {
    // What has just ended may still be on its way out.
    wait_until([this] { return !made_ || ::rmdir(folder().c_str()) == 0; });
  }

  bool made() const { return made_; }

  std::string folder() const { return root_ + parent_ + "/" + name_; }

  // As processes see it.
  std::string path() const { return parent_ + "/" + name_; }

 private:
  std::string root_;
  std::string parent_;
  std::string name_;
  bool made_ = false;
};

// 1048 bytes are asked for by nobody but the puppets.
constexpr const char* kEvents = " -e kmem:kmalloc --filter 'bytes_req == 1048' ";
constexpr const char* kAsNobody = "setpriv --reuid=nobody --regid=nogroup --clear-groups ";

class IdentityTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped() && !cgroup_.made()) {
      GTEST_SKIP() << "no cgroup can be made below " << cgroup_.folder();
    }
    if (IsSkipped()) {
      return;
    }
    run_well("cp $PUPPETS/many_kmallocs . && chmod 755 . many_kmallocs");
    // The puppets end within a few milliseconds, most of them before anybody can look at them.
    write("work.sh",
          "sleep 0.5\n"
          "for i in 1 2 3 4; do ./many_kmallocs 25 >&2; done\n"
          "sleep 0.5\n");
    write("in_cgroup.sh", "echo $$ > " + cgroup_.folder() + "/cgroup.procs\nexec sh work.sh\n");
    write("as_nobody.sh",
          std::string("sleep 0.5\n./many_kmallocs 30 >&2\nsleep 0.5\nexec ") + kAsNobody +
              "sh work.sh\n");
  }

  static constexpr int kTries = 3;

  // The first that has no loss, or the last.
  static Json without_loss(const std::function<Json()>& recorded) {
    Json made = recorded();
    for (int i = 1; i < kTries && lost_in(made) > 0 && !HasFailure(); ++i) {
      made = recorded();
    }
    return made;
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(std::filesystem::path(dir_.path()) / name) << text;
  }

  OwnCgroup cgroup_;
};

TEST_F(IdentityTest, processes_that_end_at_once_are_in_their_parents_cgroup) {
  run_well(std::string("$MEMTRACE record -a") + kEvents + "-- sh in_cgroup.sh");
  const Json by_cgroup = report("kmalloc --by cgroup");
  EXPECT_EQ(figure_of(by_cgroup, "cgroup", cgroup_.path()), 100U) << by_cgroup.dump(1);
  EXPECT_EQ(by_cgroup.at("totals").at("count"), 100U);
  EXPECT_EQ(report("kmalloc --by comm --cgroup " + cgroup_.path()).at("totals").at("count"), 100U);
  EXPECT_EQ(report("kmalloc --by comm --cgroup nothing_like_it").at("totals").at("count"), 0U);
}

TEST_F(IdentityTest, processes_are_of_the_user_that_they_have_become) {
  run_well(std::string("$MEMTRACE record -a") + kEvents + "-- sh as_nobody.sh");
  const Json by_user = report("kmalloc --by user,uid");
  EXPECT_EQ(figure_of(by_user, "user", "nobody"), 100U) << by_user.dump(1);
  EXPECT_EQ(figure_of(by_user, "user", "root"), 30U) << by_user.dump(1);
  EXPECT_EQ(figure_of(by_user, "uid", 0), 30U);
  EXPECT_EQ(report("kmalloc --by comm --uid nobody").at("totals").at("count"), 100U);
  EXPECT_EQ(report("kmalloc --by comm --uid 0").at("totals").at("count"), 30U);
}

// Each process of many_owners sends two messages as whom it has become.
struct Judged {
  std::uint64_t right = 0;
  std::uint64_t wrong = 0;  // under a user or cgroup that it was not of at that time
  std::uint64_t total = 0;
};

Judged judge(const Json& report, const std::string& folder, int processes) {
  constexpr int kFirstUser = 100000;
  Judged judged;
  for (const Json& row : report.at("tables").at(0).at("rows")) {
    const std::uint64_t count = row.at("count");
    judged.total += count;
    const bool has_user = !row.at("uid").is_null();
    const bool has_cgroup = !row.at("cgroup").is_null();
    const int uid = has_user ? row.at("uid").get<int>() : 0;
    const int index = uid - kFirstUser;
    const std::string cgroup = has_cgroup ? row.at("cgroup").get<std::string>() : "";
    const bool is_one = index >= 0 && index < processes;
    if (is_one && cgroup == folder + "/o" + std::to_string(index)) {
      judged.right += std::min<std::uint64_t>(count, 2);
    } else if (has_user && has_cgroup && is_one) {
      judged.wrong += count;
    } else if (has_cgroup && cgroup.starts_with(folder + "/o")) {
      judged.wrong += has_user ? count : 0;
    }
  }
  return judged;
}

constexpr int kOwners = 400;

// One record that was lost may have been anybody's: nothing can be said of such a recording.
TEST_F(IdentityTest, processes_of_20_ms_are_in_their_own_cgroup_and_of_their_own_user) {
  run_well("cp $PUPPETS/many_owners . && chmod 755 many_owners");
  const std::string work = "-- ./many_owners " + std::to_string(kOwners) + " " + cgroup_.folder();
  for (const std::string target : {"-a ", ""}) {
    const auto recorded = [&] {
      run_well("$MEMTRACE record " + target + kEvents + work);
      return report("kmalloc --by uid,cgroup --top 100000");
    };
    const Json by_both = without_loss(recorded);
    if (lost_in(by_both) > 0) {
      GTEST_SKIP() << "events were lost in each of " << kTries << " tries";
    }
    const Judged judged = judge(by_both, cgroup_.path(), kOwners);
    EXPECT_EQ(judged.total, 3U * kOwners);
    EXPECT_GE(judged.right, 2U * kOwners * 99 / 100) << target << by_both.dump(1);
    EXPECT_EQ(judged.wrong, 0U) << target << by_both.dump(1);
    // Those before the changes.
    EXPECT_EQ(figure_of(report("kmalloc --by uid"), "uid", 0), kOwners);
    EXPECT_EQ(report("kmalloc --uid 100007").at("totals").at("count"), 2U);
  }
}

TEST_F(IdentityTest, live_views_know_processes_of_20_ms) {
  run_well("cp $PUPPETS/many_owners . && chmod 755 many_owners");
  const Json by_both = without_loss([&] {
    return json_of(std::string("$MEMTRACE kmalloc -a --by uid,cgroup --top 100000 --format json") +
                   kEvents + "-- ./many_owners " + std::to_string(kOwners) + " " +
                   cgroup_.folder());
  });
  if (lost_in(by_both) > 0) {
    GTEST_SKIP() << "events were lost in each of " << kTries << " tries";
  }
  const Judged judged = judge(by_both, cgroup_.path(), kOwners);
  EXPECT_GE(judged.right, 2U * kOwners * 99 / 100) << by_both.dump(1);
  EXPECT_EQ(judged.wrong, 0U) << by_both.dump(1);
}

TEST_F(IdentityTest, processes_that_switch_user_and_end_at_once_are_of_their_user) {
  write("switch.sh",
        std::string("for i in $(seq 40); do ") + kAsNobody + "./many_kmallocs 3 >&2; done\n");
  run_well(std::string("$MEMTRACE record -a") + kEvents + "-- sh switch.sh");
  const Json by_user = report("kmalloc --by user");
  EXPECT_EQ(figure_of(by_user, "user", "nobody"), 120U) << by_user.dump(1);
  EXPECT_EQ(report("kmalloc --uid nobody").at("totals").at("count"), 120U);
}

TEST_F(IdentityTest, pipe_tells_them_in_time) {
  const Json by_cgroup =
      json_of(std::string("$MEMTRACE record -a -o - ") + kEvents +
              "-- sh in_cgroup.sh | "
              "$MEMTRACE report kmalloc --format json --by cgroup --uid root -i -");
  EXPECT_EQ(figure_of(by_cgroup, "cgroup", cgroup_.path()), 100U) << by_cgroup.dump(1);
}

TEST_F(IdentityTest, live_views_read_them_as_they_run) {
  const Json by_user = json_of(std::string("$MEMTRACE kmalloc -a --by user --format json") +
                               kEvents + "--uid nobody -- sh as_nobody.sh");
  EXPECT_EQ(figure_of(by_user, "user", "nobody"), 100U) << by_user.dump(1);
  EXPECT_EQ(by_user.at("totals").at("count"), 100U) << by_user.dump(1);
}

TEST_F(IdentityTest, command_alone_is_known_though_it_ends_at_once) {
  run_well(std::string("$MEMTRACE record") + kEvents + "-- ./many_kmallocs 40");
  EXPECT_EQ(figure_of(report("kmalloc --by user"), "user", "root"), 40U);
}

TEST_F(IdentityTest, recording_of_perf_says_why_it_has_none) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  run_well("perf record -q -e kmem:kmalloc -o perf.data ./many_kmallocs 20");
  const Json by_user = report("kmalloc --by user -i perf.data");
  EXPECT_TRUE(by_user.at("tables").at(0).at("rows").at(0).at("user").is_null());
  EXPECT_NE(by_user.at("caveats").dump().find("perf record does not"), std::string::npos);
  EXPECT_EQ(report("kmalloc --by comm -i perf.data").at("caveats").dump().find("users"),
            std::string::npos);
}

TEST_F(IdentityTest, loop_of_forks_is_recorded_without_loss) {
  const Outcome outcome = run_well(
      "$MEMTRACE record -e kmem:kmalloc,kmem:kmem_cache_alloc,kmem:mm_page_alloc -- "
      "sh -c 'for i in $(seq 200); do /bin/true; done'");
  EXPECT_TRUE(outcome.says("none lost")) << outcome.all();
  const Json by_user = report("count --by user");
  EXPECT_EQ(by_user.at("caveats").dump().find("without an owner"), std::string::npos)
      << by_user.at("caveats").dump(1);
}

}  // namespace
}  // namespace memtrace::test
