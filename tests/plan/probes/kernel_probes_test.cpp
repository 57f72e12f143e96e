#include "plan/probes/kernel_probes.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "os/system.h"
#include "plan/events/event_selection.h"
#include "support/temp_dir.h"

namespace memtrace {
namespace {

// Makes the event's format file, as the kernel does, and keeps the line.
int write_and_make(const std::string& events_file, const std::string& command) {
  const std::string root = events_file.substr(0, events_file.rfind('/'));
  const std::size_t colon = command.find(':');
  const std::string name = command.substr(colon + 1, command.find(' ') - colon - 1);
  std::filesystem::create_directories(root + "/events/" + name);
  std::ofstream(root + "/events/" + name + "/format") << "name: x\nID: 77\nformat:\n";
  std::ofstream(events_file, std::ios::app) << command << "\n";
  return 0;
}

int refuse(const std::string&, const std::string& command) {
  return command.starts_with('-') ? 0 : EINVAL;
}

class KernelProbesTest : public testing::Test {
 protected:
  KernelProbes probes(WriteProbeCommand write, std::string functions) {
    std::ofstream(dir_.file("kprobe_events")) << "";
    return {ProbeGroup::create_in(dir_.path(), "memtrace_kernel_1", write).take(),
            std::move(functions)};
  }

  std::string written() const { return read_file(dir_.file("kprobe_events")).take(); }

  test::TempDir dir_;
};

TEST_F(KernelProbesTest, function_that_was_named_is_probed_with_its_arguments) {
  KernelProbes kernel = probes(&write_and_make, "hugetlb_fault\n");
  const auto request = kernel.add_event("kprobe:hugetlb_fault(address=arg3,flags=arg4:u32)", 5);
  ASSERT_TRUE(request.ok()) << describe(request.error());
  EXPECT_EQ(request.value().info.name, "memtrace_kernel_1:hugetlb_fault");
  EXPECT_EQ(request.value().info.period, 5U);
  EXPECT_FALSE(request.value().on_user_code);
  EXPECT_EQ(written(),
            "p:memtrace_kernel_1/hugetlb_fault hugetlb_fault address=%dx:u64 flags=%cx:u32 "
            "caller=$stack0:u64\n");
  for (const char* wrong : {"kprobe:no_such", "kprobe:hugetlb_fault(", "kprobe:hugetlb_fault(a)"}) {
    const auto refused = kernel.add_event(wrong, 1);
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_EQ(refused.error().kind, ErrorKind::Usage) << wrong;
  }
}

TEST_F(KernelProbesTest, views_get_the_function_under_the_name_that_this_kernel_gives_it) {
  KernelProbes kernel = probes(&write_and_make, "swap_readpage.isra.0\nkmem_cache_alloc\n");
  const std::vector<std::string> views = {"swapin", "slab", "kleaks", "hfaults", "faults"};
  const auto requests = kernel.add_for(views);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].info.name, "memtrace_kernel_1:swap_readpage");
  EXPECT_TRUE(requests[0].stacks);
  EXPECT_EQ(requests[1].info.name, "memtrace_kernel_1:kmem_cache_alloc");
  EXPECT_FALSE(requests[1].stacks);
  EXPECT_NE(written().find("p:memtrace_kernel_1/swap_readpage swap_readpage.isra.0 caller="),
            std::string::npos)
      << written();
  ASSERT_EQ(kernel.notes().size(), 3U);
  EXPECT_EQ(kernel.notes().front(),
            "no kprobe for hfaults: this kernel has no function hugetlb_fault");
}

TEST_F(KernelProbesTest, refusal_by_the_kernel_leaves_the_view_as_it_is_and_says_so) {
  KernelProbes kernel = probes(&refuse, "swap_readpage\n");
  EXPECT_TRUE(kernel.add_for(std::vector<std::string>{"swapin"}).empty());
  ASSERT_EQ(kernel.notes().size(), 1U);
  EXPECT_NE(kernel.notes().front().find("defining a kprobe on swap_readpage"), std::string::npos);
}

TEST(KernelProbesPlanTest, plan_has_the_probes_that_perf_would_place) {
  KernelProbes plan(std::nullopt, "oom_kill_process\nhugetlb_fault.isra.0\nswap_readpage\n");
  const auto requests = plan.add_for(std::vector<std::string>{"oom", "hfaults", "slab", "swapin"});
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].info.name, "probe:hugetlb_fault");
  ASSERT_EQ(plan.planned().size(), 3U);
  EXPECT_EQ(plan.planned()[0].event, "hugetlb_fault");
  EXPECT_EQ(plan.planned()[0].function, "hugetlb_fault.isra.0");
  EXPECT_EQ(plan.planned()[0].args, "address=%dx:u64 flags=%cx:u32 caller=$stack0:u64");
  EXPECT_EQ(plan.planned()[2].event, "oom_kill_process");
  ASSERT_EQ(plan.notes().size(), 4U);
  EXPECT_TRUE(plan.notes()[0].starts_with("a kprobe on hugetlb_fault.isra.0 records "));
  EXPECT_TRUE(plan.notes()[3].starts_with("no kprobe for slab: "));
  const auto named = plan.add_event("kprobe:oom_kill_process(control=arg1)", 1);
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(named.value().info.name, "probe:oom_kill_process_2");
  EXPECT_EQ(plan.planned()[3].args, "control=%di:u64 caller=$stack0:u64");
  ASSERT_TRUE(plan.add_event("kprobe:oom_kill_process(caller=arg2)", 1).ok());
  EXPECT_EQ(plan.planned()[4].args, "caller=%si:u64");
}

TEST(KernelProbesPlanTest, where_no_functions_can_be_seen_they_are_taken_to_be_there) {
  KernelProbes plan(std::nullopt, "");
  EXPECT_EQ(plan.add_for(std::vector<std::string>{"swapin"}).size(), 1U);
  EXPECT_EQ(plan.planned().front().function, "swap_read_folio");
}

TEST(KernelProbesSelectionTest, kprobes_are_for_who_asks_for_them) {
  const auto refused = select_events({.events = {"kprobe:hugetlb_fault"}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::Usage);
  EXPECT_NE(refused.error().hint.find("--kprobes"), std::string::npos);
}

}  // namespace
}  // namespace memtrace
