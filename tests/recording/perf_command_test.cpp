#include "recording/perf_command.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

EventRequest tracepoint(const std::string& name) {
  return {.info = {.name = name, .kind = EventKind::Tracepoint}, .type = kTypeTracepoint};
}

std::string command_for(const RecordOptions& options) {
  return perf_command_for(options, {.tracing_directory = "/t", .ring_bytes = 16U << 20U}).record;
}

TEST(PerfCommandTest, events_filters_and_targets_are_those_of_the_recording) {
  RecordOptions options{.output = "out file"};
  options.live.target = {.kind = TargetKind::Command, .command = {"sh", "-c", "it's"}};
  options.selected.requests = {tracepoint("kmem:kmalloc"), tracepoint("kmem:kfree")};
  options.selected.requests[0].filter = "bytes_req > 9";
  options.selected.requests[1].stacks = false;
  EXPECT_EQ(command_for(options),
            "perf record -o 'out file' -m 16M -c 1 --call-graph fp -e kmem:kmalloc "
            "--filter 'bytes_req > 9' -e kmem:kfree/call-graph=no/ -- sh -c 'it'\\''s'");
  options.live.target = {.kind = TargetKind::Processes, .ids = {7, 8}};
  options.live.duration_ns = 2'500'000'000;
  EXPECT_TRUE(command_for(options).ends_with(" -p 7,8 -- sleep 2.5"));
  options.live.target = {};
  options.live.duration_ns = 0;
  EXPECT_TRUE(command_for(options).ends_with(" -a"));
}

TEST(PerfCommandTest, stacks_are_copied_when_one_event_needs_it) {
  RecordOptions options;
  options.selected.requests = {tracepoint("kmem:kmalloc"), tracepoint("memtrace_heap_0:malloc")};
  options.selected.requests[0].in_bursts = true;
  options.selected.requests[1].on_user_code = true;
  options.live.call_graph.stack_bytes = 8192;
  options.live.call_graph.skip_kernel_work = true;
  EXPECT_NE(command_for(options).find("--call-graph fp -e kmem:kmalloc -e "
                                      "memtrace_heap_0:malloc/call-graph=dwarf,stack-size=8192/ "),
            std::string::npos);
  options.live.call_graph.kernel = false;
  options.live.call_graph.skip_kernel_work = false;
  EXPECT_NE(command_for(options).find("--call-graph dwarf,8192 -e kmem:kmalloc -e "),
            std::string::npos);
  options.live.call_graph.skip_kernel_work = true;
  options.selected.requests[1].stacks = false;
  EXPECT_NE(command_for(options).find("--call-graph fp -e kmem:kmalloc -e "), std::string::npos);
  options.live.call_graph = {.kernel = false, .user = false};
  EXPECT_EQ(command_for(options).find("call-graph"), std::string::npos);
}

TEST(PerfCommandTest, addresses_of_page_faults_are_asked_for) {
  RecordOptions options;
  options.selected.requests = {
      {.info = {.name = "page-faults", .kind = EventKind::Software}, .physical_address = true}};
  EXPECT_NE(command_for(options).find(" -d --phys-data "), std::string::npos);
}

// perf gives up at the first event that is not there.
TEST(PerfCommandTest, events_that_the_host_may_lack_are_left_to_the_reader) {
  RecordOptions options;
  options.selected.requests = {tracepoint("kmem:kmalloc"), tracepoint("kmem:kmalloc_node")};
  options.selected.requests[1].optional = true;
  const PerfCommand command = perf_command_for(options, {});
  EXPECT_EQ(command.record.find("kmalloc_node"), std::string::npos);
  ASSERT_EQ(command.notes.size(), 1U);
  EXPECT_TRUE(command.notes.front().ends_with(" -e kmem:kmalloc_node"));
}

TEST(PerfCommandTest, probes_in_the_kernel_are_placed_and_removed) {
  RecordOptions options;
  options.selected.kernel_probes =
      std::make_shared<KernelProbes>(std::nullopt, "hugetlb_fault.isra.0\noom_kill_process\n");
  options.selected.requests =
      options.selected.kernel_probes->add_for(std::vector<std::string>{"hfaults", "oom"});
  const PerfCommand command = perf_command_for(options, {});
  EXPECT_EQ(command.before,
            (std::vector<std::string>{
                "perf probe -a 'hugetlb_fault=hugetlb_fault.isra.0 address=%dx:u64 flags=%cx:u32 "
                "caller=$stack0:u64'",
                "perf probe -a 'oom_kill_process caller=$stack0:u64'"}));
  EXPECT_EQ(command.after,
            (std::vector<std::string>{"perf probe -d probe:hugetlb_fault",
                                      "perf probe -d probe:oom_kill_process"}));
  EXPECT_NE(command.record.find(" -e probe:hugetlb_fault -e probe:oom_kill_process"),
            std::string::npos);
}

}  // namespace
}  // namespace memtrace
