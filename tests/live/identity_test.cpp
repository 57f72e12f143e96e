// Users and cgroups of processes, also of those that end before anybody can look at them.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

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
    // The pauses are long enough for the recorder to have looked at a shell before it is something
    // else. The puppets end within a few milliseconds, most of them before it can look at them.
    write("work.sh",
          "sleep 0.5\n"
          "for i in 1 2 3 4; do ./many_kmallocs 25 >&2; done\n"
          "sleep 0.5\n");
    write("in_cgroup.sh", "echo $$ > " + cgroup_.folder() + "/cgroup.procs\nexec sh work.sh\n");
    write("as_nobody.sh",
          std::string("sleep 0.5\n./many_kmallocs 30 >&2\nsleep 0.5\nexec ") + kAsNobody +
              "sh work.sh\n");
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
  EXPECT_NE(by_user.at("caveats").dump().find("those of perf record do not"), std::string::npos);
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
