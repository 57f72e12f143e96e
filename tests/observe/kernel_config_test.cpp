#include "observe/kernel_config.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temp_dir.h"

namespace memtrace {
namespace {

class KernelConfigTest : public testing::Test {
 protected:
  KernelConfig config_of(const std::string& text) {
    std::ofstream(dir_.file("config")) << text;
    return KernelConfig::read(
        std::vector<std::string>{dir_.file("config.gz"), dir_.file("none"), dir_.file("config")});
  }

  test::TempDir dir_;
};

constexpr const char* kMost =
    "# CONFIG_KPROBES is not set\nCONFIG_PERF_EVENTS=y\nCONFIG_EVENT_TRACING=y\n"
    "CONFIG_UPROBE_EVENTS=y\nCONFIG_MEMCG=y\nCONFIG_NUMA=y\nCONFIG_NUMA_BALANCING=y\n"
    "CONFIG_MIGRATION=y\nCONFIG_TRANSPARENT_HUGEPAGE=y\nCONFIG_HUGETLBFS=m\nCONFIG_SWAP=y\n"
    "# CONFIG_COMPACTION is not set\nCONFIG_FTRACE_SYSCALLS_MORE=y\n";

TEST_F(KernelConfigTest, options_that_are_not_set_are_lacking_and_no_others) {
  const KernelConfig config = config_of(kMost);
  EXPECT_EQ(config.path(), dir_.file("config"));
  EXPECT_EQ(config.lacking(),
            (std::vector<std::string>{
                "CONFIG_KPROBE_EVENTS", "CONFIG_FTRACE_SYSCALLS", "CONFIG_COMPACTION"}));
}

TEST_F(KernelConfigTest, option_explains_the_event_that_needs_it) {
  const KernelConfig config = config_of(kMost);
  EXPECT_EQ(config.reason_against("syscalls:sys_enter_mmap"),
            "this kernel was built without CONFIG_FTRACE_SYSCALLS");
  EXPECT_EQ(config.reason_against("compaction:mm_compaction_begin"),
            "this kernel was built without CONFIG_COMPACTION");
  EXPECT_EQ(config.reason_against("kprobe:hugetlb_fault"),
            "this kernel was built without CONFIG_KPROBE_EVENTS");
  for (const char* event :
       {"kmem:kmalloc", "heap:alloc", "page-faults", "vmscan:mm_vmscan_memcg_"}) {
    EXPECT_EQ(config.reason_against(event), "") << event;
  }
}

// As the configurations of RHEL 6 and 7 call them.
TEST_F(KernelConfigTest, options_are_known_by_their_former_names) {
  const KernelConfig config = config_of(
      "CONFIG_PERF_EVENTS=y\nCONFIG_EVENT_TRACING=y\nCONFIG_KPROBE_EVENT=y\n"
      "CONFIG_UPROBE_EVENT=y\nCONFIG_CGROUP_MEM_RES_CTLR=y\n");
  for (const char* event : {"kprobe:do_exit", "heap:alloc", "vmscan:mm_vmscan_memcg_"}) {
    EXPECT_EQ(config.reason_against(event), "") << event;
  }
}

TEST_F(KernelConfigTest, without_tracing_no_tracepoint_is_there_and_software_events_are) {
  const KernelConfig config = config_of("CONFIG_PERF_EVENTS=y\n");
  EXPECT_EQ(config.reason_against("kmem:kmalloc"),
            "this kernel was built without CONFIG_EVENT_TRACING");
  EXPECT_EQ(config.reason_against("page-faults"), "");
  EXPECT_EQ(config_of("CONFIG_X=y\n").reason_against("page-faults"),
            "this kernel was built without CONFIG_PERF_EVENTS");
}

TEST_F(KernelConfigTest, nothing_is_said_of_what_cannot_be_read) {
  const KernelConfig config = KernelConfig::read(std::vector<std::string>{dir_.file("none")});
  EXPECT_FALSE(config.is_known());
  EXPECT_FALSE(config.lacks("CONFIG_PERF_EVENTS"));
  EXPECT_TRUE(config.lacking().empty());
  EXPECT_EQ(config.reason_against("kmem:kmalloc"), "");
}

}  // namespace
}  // namespace memtrace
