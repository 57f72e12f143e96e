// A dry run changes nothing, and what it says of perf is true: the command is run, and its file
// gives the figures.
#include "live/live_test.h"

namespace memtrace::test {
namespace {

class DryRunTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped()) {
      need_perf();
    }
  }

  // The lines for a shell at its end.
  static std::string commands_of(const std::string& plan) {
    const std::string title = "the same with perf, as root, for memtrace report\n";
    const std::size_t at = plan.find(title);
    EXPECT_NE(at, std::string::npos) << plan;
    return at == std::string::npos ? "" : plan.substr(at + title.size());
  }

  // Plans, then records by perf alone into the file that was named.
  void record_by_perf(const std::string& words) {
    const Outcome plan = run_well("$MEMTRACE record --dry-run " + words);
    const Outcome recorded =
        run_script("set -e\n" + commands_of(plan.out), dir_.path(), environment());
    EXPECT_EQ(recorded.status, 0) << plan.out << recorded.all();
  }
};

TEST_F(DryRunTest, perf_records_kmalloc_as_planned) {
  record_by_perf("--for kmalloc -o k.data -- $PUPPETS/many_kmallocs 40");
  EXPECT_EQ(sum_with_function(report("kmalloc --exclude allocate_slab -i k.data"), "send_messages"),
            40U);
}

TEST_F(DryRunTest, perf_records_page_faults_as_planned) {
  record_by_perf("--for faults --user -o f.data -- $PUPPETS/touch_pages 300");
  EXPECT_EQ(sum_at_function(report("faults --user --top 0 -i f.data"), "touch_fresh_pages"), 300U);
}

TEST_F(DryRunTest, perf_records_the_heap_as_planned_and_leaves_no_probe) {
  if (!std::filesystem::exists("/sys/kernel/tracing/uprobe_events")) {
    GTEST_SKIP() << "no uprobe_events here";
  }
  record_by_perf("--for leaks -o h.data -- $PUPPETS/heap_patterns malloc");
  const Json leaks = report("leaks --top 0 -i h.data");
  EXPECT_EQ(sum_with_function(leaks, "(anonymous namespace)::leak_by_malloc"), 10U);
  EXPECT_EQ(sum_with_function(leaks, "(anonymous namespace)::leak_by_malloc", "bytes"), 1045U);
  EXPECT_EQ(text_of("/sys/kernel/tracing/uprobe_events").find("memtrace_heap_0"),
            std::string::npos);
}

TEST_F(DryRunTest, the_periods_of_a_kept_overhead_are_told) {
  const std::string plan =
      run_well("$MEMTRACE record -e kmem:kmalloc --max-overhead 3% -a --dry-run").out;
  EXPECT_NE(plan.find("all or one in 5, 17, 67, 257, 1031, or in windows"), std::string::npos)
      << plan;
  EXPECT_NE(plan.find("for 1 event with up to 6 periods plus mappings"), std::string::npos) << plan;
  const std::string probes =
      run_well("$MEMTRACE record --for malloc --max-overhead 3% --dry-run -- /bin/true").out;
  EXPECT_NE(probes.find(", all or in windows"), std::string::npos) << probes;
}

TEST_F(DryRunTest, one_word_means_all_views_or_those_of_the_kernel) {
  const std::string kernel = run_well("$MEMTRACE record --dry-run --for kernel -a").out;
  EXPECT_NE(kernel.find("\n  kmem:kmalloc: "), std::string::npos) << kernel;
  EXPECT_NE(kernel.find("\n  syscalls:sys_enter_mmap: "), std::string::npos) << kernel;
  EXPECT_EQ(kernel.find("uprobe_events"), std::string::npos) << kernel;
  const std::string all = run_well("$MEMTRACE record --dry-run --for all -- /bin/true").out;
  EXPECT_NE(all.find("\n  kmem:kmalloc: "), std::string::npos) << all;
  EXPECT_NE(all.find("uprobe_events"), std::string::npos) << all;
}

TEST_F(DryRunTest, nothing_is_changed_nor_started) {
  const std::string mounts = text_of("/proc/mounts");
  const Outcome plan = run_well(
      "$MEMTRACE record --dry-run --for kmalloc,leaks,vmscan --filter 'bytes_req > 100' -d 5 "
      "-- sh -c 'echo >started'");
  for (const char* part : {"kmem:kmalloc: ",
                           "filter: bytes_req > 100",
                           "fields: ",
                           "bytes_alloc",
                           "p:memtrace_heap_0/malloc ",
                           "rings: ",
                           "descriptors: ",
                           "perf record -o memtrace.data -m "}) {
    EXPECT_NE(plan.out.find(part), std::string::npos) << part << "\n" << plan.out;
  }
  EXPECT_FALSE(std::filesystem::exists(dir_.file("started")));
  EXPECT_FALSE(std::filesystem::exists(dir_.file("memtrace.data")));
  EXPECT_EQ(text_of("/proc/mounts"), mounts);
  EXPECT_EQ(text_of("/sys/kernel/tracing/uprobe_events").find("memtrace_heap_0"),
            std::string::npos);
}

// perf probe -D shows what it would write, also where the kernel takes no kprobes. It keeps a copy
// of the kernel's symbols at home.
TEST_F(DryRunTest, probes_in_the_kernel_are_lines_that_perf_takes) {
  const Outcome plan = run_well(
      "$MEMTRACE record --dry-run --kprobes --for hfaults,oom,swapin,slab "
      "-e 'kprobe:do_exit(code=arg1:u32)' -a");
  EXPECT_NE(plan.out.find("\n  p:memtrace_kernel_0/hugetlb_fault hugetlb_fault address=%dx:u64 "),
            std::string::npos)
      << plan.out;
  const bool has_kprobes = std::filesystem::exists("/sys/kernel/tracing/kprobe_events");
  EXPECT_EQ(plan.out.find("this kernel has no kprobes") == std::string::npos, has_kprobes);
  std::istringstream lines(commands_of(plan.out));
  constexpr std::string_view kAdd = "perf probe -a ";
  std::size_t probes = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(kAdd);
    if (at == std::string::npos) {
      continue;
    }
    const Outcome shown = run_well("HOME=$PWD perf probe -D " + line.substr(at + kAdd.size()));
    EXPECT_TRUE(shown.out.starts_with("p:probe/")) << line << "\n" << shown.all();
    const std::string event = shown.out.substr(8, shown.out.find(' ') - 8);
    EXPECT_NE(plan.out.find(" -e probe:" + event), std::string::npos) << plan.out;
    EXPECT_NE(plan.out.find("perf probe -d probe:" + event + "\n"), std::string::npos);
    ++probes;
  }
  EXPECT_EQ(probes, 5U) << plan.out;
}

// A user who plans need not be allowed to record: the plan is for a host, not for a user.
TEST_F(DryRunTest, nobody_gets_a_plan_that_root_can_run) {
  run_well("cp $MEMTRACE $PUPPETS/many_kmallocs . && chmod 755 . memtrace many_kmallocs");
  const Outcome plan = run_well(
      "setpriv --reuid=nobody --regid=nogroup --clear-groups ./memtrace record --dry-run "
      "--for kmalloc,vmscan -o n.data -- ./many_kmallocs 25");
  EXPECT_NE(plan.out.find("the events of this kernel cannot be listed: "), std::string::npos)
      << plan.out;
  EXPECT_NE(plan.out.find("run memtrace as root"), std::string::npos) << plan.out;
  const Outcome recorded = run_script(commands_of(plan.out), dir_.path(), environment());
  EXPECT_EQ(recorded.status, 0) << plan.out << recorded.all();
  EXPECT_EQ(sum_with_function(report("kmalloc --exclude allocate_slab -i n.data"), "send_messages"),
            25U);
}

}  // namespace
}  // namespace memtrace::test
