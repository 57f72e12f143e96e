#include "tracepoints/probe/uprobe_events.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "os/system.h"
#include "tracepoints/probe/stale_probes.h"

namespace memtrace {
namespace {

// A directory of tracefs's shape: what is written to uprobe_events stays there to be read.
class UprobeEvents : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() /
            ("memtrace-uprobe-events-" + std::to_string(::getpid()));
    std::filesystem::create_directories(root_);
    write("uprobe_events", "");
  }

  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  std::string written() const { return read_file(root_ / "uprobe_events").take(); }

  ProbeGroup group() const { return ProbeGroup::create_in(root_, "group_1").take(); }

  static std::string dead_pid() {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::_exit(0);
    }
    ::waitpid(pid, nullptr, 0);
    return std::to_string(pid);
  }

  std::filesystem::path root_;
};

TEST_F(UprobeEvents, kernel_without_user_probes_is_told) {
  std::filesystem::remove(root_ / "uprobe_events");
  const auto none = ProbeGroup::create_in(root_, "group_1");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().hint.find("CONFIG_UPROBE_EVENTS"), std::string::npos);
}

TEST_F(UprobeEvents, probes_are_appended_and_removed_one_by_one) {
  write("uprobe_events", "p:other/one /lib/x:0x1\n");
  {
    ProbeGroup probes = group();
    // The event appears only when the kernel makes it; here it is never there.
    EXPECT_FALSE(
        probes.define({.event = "malloc", .path = "/lib/x", .file_offset = 16, .args = "s=%di"})
            .ok());
    EXPECT_FALSE(probes
                     .define({.event = "malloc",
                              .path = "/lib/x",
                              .file_offset = 16,
                              .is_return = true,
                              .ref_ctr_offset = 32})
                     .ok());
  }
  EXPECT_EQ(written(),
            "p:other/one /lib/x:0x1\n"
            "p:group_1/malloc /lib/x:0x10 s=%di\n"
            "r:group_1/malloc_2 /lib/x:0x10(0x20)\n"
            "-:group_1/malloc\n"
            "-:group_1/malloc_2\n");
}

TEST_F(UprobeEvents, name_that_a_dead_process_of_our_pid_left_is_not_taken_again) {
  write("events/group_1/malloc/format", "name: malloc\nID: 7\n");
  ProbeGroup probes = group();
  EXPECT_FALSE(probes.define({.event = "malloc", .path = "/lib/x"}).ok());
  EXPECT_EQ(written(), "p:group_1/malloc_2 /lib/x:0x0\n");
}

TEST_F(UprobeEvents, paths_that_the_kernel_would_split_go_by_a_descriptor) {
  write("with blank#", "");
  ProbeGroup probes = group();
  EXPECT_FALSE(probes.define({.event = "a", .path = root_ / "with blank#"}).ok());
  EXPECT_EQ(written().find("blank"), std::string::npos);
  EXPECT_NE(written().find("/proc/" + std::to_string(::getpid()) + "/fd/"), std::string::npos);
}

TEST_F(UprobeEvents, moved_group_is_removed_once) {
  ProbeGroup first = group();
  EXPECT_FALSE(first.define({.event = "a", .path = "/lib/x"}).ok());
  ProbeGroup second = std::move(first);
  EXPECT_TRUE(second.remove().ok());
  EXPECT_TRUE(second.remove().ok());
  const std::string text = written();
  EXPECT_EQ(text.find("-:group_1/a"), text.rfind("-:group_1/a"));
}

TEST_F(UprobeEvents, forked_child_removes_nothing) {
  ProbeGroup probes = group();
  EXPECT_FALSE(probes.define({.event = "a", .path = "/lib/x"}).ok());
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(probes.remove().ok() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(written().find("-:"), std::string::npos);
}

TEST_F(UprobeEvents, groups_of_dead_and_of_other_programs_are_stale) {
  const std::string dead = dead_pid();
  const std::string own = std::to_string(::getpid());
  write("uprobe_events",
        "p:memtrace_" + dead + "/malloc /x:0x1\np:memtrace_" + dead +
            "/malloc /x:0x9\nr:memtrace_heap_" + dead + "/free /x:0x2\n" +
            "p:memtrace_1/a /x:0x1\n" +  // init is not memtrace
            "p:memtrace_" + own +
            "/b /x:0x1\n"                     // runs
            "p:probe_libc/malloc /x:0x1\n" +  // perf probe's
            "p:memtrace_foo/c /x:0x1\n");
  const auto listed = stale_probes_in(root_, StaleAction::List);
  EXPECT_EQ(written().find("-:"), std::string::npos) << "what is only listed stays";
  const auto removed = stale_probes_in(root_, StaleAction::Remove);
  ASSERT_TRUE(listed.ok() && removed.ok());
  ASSERT_EQ(listed.value().size(), 3U);
  EXPECT_EQ(listed.value().front().name, "memtrace_" + dead + ":malloc");
  EXPECT_EQ(removed.value().size(), 3U);
  const std::string text = written();
  EXPECT_NE(text.find("-:memtrace_" + dead + "/malloc\n-:memtrace_heap_" + dead +
                      "/free\n-:memtrace_1/a\n"),
            std::string::npos);
  EXPECT_EQ(text.find("-:probe_libc"), std::string::npos);
  EXPECT_EQ(text.find("-:memtrace_" + own), std::string::npos);
  EXPECT_EQ(text.find("-:memtrace_foo"), std::string::npos);
}

// memtrace under another name: as `sleep` here, which has the file open.
TEST_F(UprobeEvents, a_program_of_any_name_that_has_the_file_open_keeps_its_probes) {
  write("uprobe_events", "");
  const std::string file = root_ / "uprobe_events";
  const pid_t child = ::fork();
  if (child == 0) {
    (void)::open(file.c_str(), O_WRONLY | O_APPEND);
    ::execlp("sleep", "sleep", "60", nullptr);
    ::_exit(1);
  }
  const std::string process = "/proc/" + std::to_string(child);
  while (read_file(process + "/comm").take() != "sleep\n") {
    ::usleep(1000);
  }
  write("uprobe_events", "p:memtrace_" + std::to_string(child) + "/malloc /x:0x1\n");
  const auto with_file = stale_probes_in(root_, StaleAction::Remove);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(with_file.value().empty());
  EXPECT_EQ(stale_probes_in(root_, StaleAction::Remove).value().size(), 1U);
}

TEST_F(UprobeEvents, kprobes_are_in_a_file_of_their_own_and_go_stale_too) {
  const std::string own = "memtrace_kernel_" + std::to_string(::getpid());
  EXPECT_NE(ProbeGroup::create_in(root_, own).error().hint.find("kprobes"), std::string::npos);
  const std::string dead = dead_pid();
  write("kprobe_events", "p:memtrace_kernel_" + dead + "/oom_kill_process oom_kill_process\n");
  {
    ProbeGroup probes = ProbeGroup::create_in(root_, own).take();
    EXPECT_FALSE(probes
                     .define({.event = "hugetlb_fault",
                              .args = "address=%dx:u64",
                              .kernel_function = "hugetlb_fault"})
                     .ok());
  }
  EXPECT_EQ(stale_probes_in(root_, StaleAction::Remove).value().size(), 1U);
  EXPECT_EQ(read_file(root_ / "kprobe_events").take(),
            "p:memtrace_kernel_" + dead + "/oom_kill_process oom_kill_process\np:" + own +
                "/hugetlb_fault hugetlb_fault address=%dx:u64\n-:" + own +
                "/hugetlb_fault\n-:memtrace_kernel_" + dead + "/oom_kill_process\n");
  EXPECT_EQ(written(), "");
}

TEST_F(UprobeEvents, hints_for_opening_name_the_filesystem) {
  EXPECT_NE(uprobe_open_hint(EIO).find("filesystem"), std::string::npos);
  EXPECT_EQ(uprobe_open_hint(ENOENT), "");
}

}  // namespace
}  // namespace memtrace
