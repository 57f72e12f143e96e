#include "plan/probes/probe_definer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <vector>

#include "perf/event/event_set.h"
#include "support/temp_dir.h"

namespace memtrace {
namespace {

const ProbeDefinition kMalloc{.event = "malloc",
                              .path = "/lib/libc.so.6",
                              .file_offset = 0x98ef0,
                              .args = "size=%di:u64 sp=%sp:u32"};

// What a kernel makes of a definition that it takes: a directory with a format file.
int make_event(const std::string& events_file, const std::string& command) {
  const std::string root = events_file.substr(0, events_file.rfind('/'));
  if (command.starts_with('-')) {
    return 0;
  }
  const std::size_t colon = command.find(':');
  const std::string name = command.substr(colon + 1, command.find(' ') - colon - 1);
  std::filesystem::create_directories(root + "/events/" + name);
  std::ofstream(root + "/events/" + name + "/format") << "name: x\nID: 1234\nformat:\n";
  return 0;
}

// 3.10 and RHEL 7.3: parse_probe_arg() of kernel/trace/trace_probe.c takes only registers.
int write_to_registers_only(const std::string& events_file, const std::string& command) {
  const bool has_memory = command.find("=+") != std::string::npos ||
                          command.find("=-") != std::string::npos ||
                          command.find('$') != std::string::npos;
  return has_memory ? EINVAL : make_event(events_file, command);
}

// An architecture without HAVE_REGS_AND_STACK_ACCESS_API.
int write_to_no_arguments(const std::string& events_file, const std::string& command) {
  return command.find('%') != std::string::npos ? EINVAL : make_event(events_file, command);
}

int write_to_full(const std::string& events_file, const std::string& command) {
  return make_event(events_file, command);
}

class ProbeDefinerTest : public testing::Test {
 protected:
  ProbeDefiner definer(WriteProbeCommand write) {
    std::ofstream(dir_.file("uprobe_events")) << "";
    return ProbeDefiner(ProbeGroup::create_in(dir_.path(), "memtrace_heap_1", write).take());
  }

  test::TempDir dir_;
};

TEST_F(ProbeDefinerTest, arguments_are_fetched_by_the_kernel_that_can) {
  ProbeDefiner full = definer(&write_to_full);
  const auto request = full.define(kMalloc);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request.value().info.name, "memtrace_heap_1:malloc");
  EXPECT_EQ(request.value().info.config, 1234U);
  EXPECT_FALSE(request.value().pmu_probe.has_value());
  EXPECT_TRUE(full.fetches_memory());
}

TEST_F(ProbeDefinerTest, kernel_that_knows_registers_only_fetches_all_but_memory) {
  ProbeDefiner registers = definer(&write_to_registers_only);
  EXPECT_FALSE(registers.fetches_memory());
  ASSERT_TRUE(registers.define(kMalloc).ok());
  ProbeDefinition of_memory = kMalloc;
  of_memory.path = "/proc/self/exe";
  of_memory.args = "name=+0(%di):string";
  const auto refused = registers.define(of_memory);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().hint.find("only registers"), std::string::npos);
}

TEST_F(ProbeDefinerTest, kernel_that_fetches_nothing_samples_the_registers) {
  const auto request = definer(&write_to_no_arguments).define(kMalloc);
  ASSERT_TRUE(request.ok()) << describe(request.error());
  ASSERT_TRUE(request.value().pmu_probe.has_value());
  EXPECT_FALSE(request.value().pmu_probe->is_of_pmu());
  EXPECT_NE(request.value().info.format.find("u64 size"), std::string::npos);
  const perf_event_attr attr = make_attr(request.value(), {.inherit = true});
  EXPECT_EQ(attr.type, kTypeTracepoint);
  EXPECT_EQ(attr.config, 1234U);
  EXPECT_EQ(attr.inherit, 1U) << "unlike an event of the PMU it can be inherited";
  EXPECT_NE(attr.sample_type & PERF_SAMPLE_REGS_USER, 0U);
  EXPECT_EQ(attr.sample_regs_user, request.value().pmu_probe->registers);
  EXPECT_NE(attr.sample_regs_user, 0U);
}

// A kernel that takes several places of one event, and tells of all in uprobe_events.
int write_to_sharing(const std::string& events_file, const std::string& command) {
  if (command.starts_with('-')) {
    std::ofstream(events_file) << "";
    return 0;
  }
  std::ofstream(events_file, std::ios::app) << command << "\n";
  const std::string root = events_file.substr(0, events_file.rfind('/'));
  const std::size_t colon = command.find(':');
  const std::string name = command.substr(colon + 1, command.find(' ') - colon - 1);
  static int next_id = 1000;
  std::filesystem::create_directories(root + "/events/" + name);
  std::ofstream(root + "/events/" + name + "/format")
      << "name: x\nID: " << next_id++ << "\nformat:\n"
      << "\tfield:u32 probe_number;\toffset:8;\tsize:4;\tsigned:0;\n"
      << "\tfield:u64 arg_0;\toffset:16;\tsize:8;\tsigned:0;\n";
  return 0;
}

// The same without the field that says whose a sample is.
int write_to_sharing_without_number(const std::string& events_file, const std::string& command) {
  const int result = write_to_sharing(events_file, command);
  return command.starts_with('-') ? result : make_event(events_file, command);
}

ProbeDefinition numbered(std::uint64_t number) {
  ProbeDefinition definition = kMalloc;
  definition.event = "take" + std::to_string(number);
  definition.file_offset += 16 * number;
  return definition;
}

TEST_F(ProbeDefinerTest, probes_share_an_event_until_their_filters_fill_the_kernels_page) {
  ProbeDefiner sharing = definer(&write_to_sharing);
  const std::string filter =
      "size > 1000000000 && size < 2000000000 && common_pid != 12345 && "
      "(size != 1500000000 || common_pid == 54321)";
  std::map<std::uint64_t, std::vector<OpenedEvent>> shares;
  for (std::uint64_t i = 0; i < 60; ++i) {
    auto request = sharing.define_shared(numbered(i), true, filter);
    ASSERT_TRUE(request.ok()) << describe(request.error());
    ASSERT_TRUE(request.value().shared.has_value());
    OpenedEvent event;
    event.request = request.take();
    event.request.filter = filter;
    shares[event.request.shared->tracepoint_id].push_back(event);
  }
  EXPECT_EQ(shares.size(), 3U) << "32 to an event were two";
  for (const auto& [id, events] : shares) {
    EXPECT_LE(shared_filter(events.front(), events).size(), 4000U);
  }
}

TEST_F(ProbeDefinerTest, without_a_filter_32_share_an_event) {
  ProbeDefiner sharing = definer(&write_to_sharing);
  std::set<std::uint64_t> shares;
  for (std::uint64_t i = 0; i < 64; ++i) {
    shares.insert(sharing.define_shared(numbered(i), true, "").value().shared->tracepoint_id);
  }
  EXPECT_EQ(shares.size(), 2U);
}

TEST_F(ProbeDefinerTest, event_without_the_number_is_not_shared) {
  ProbeDefiner sharing = definer(&write_to_sharing_without_number);
  for (std::uint64_t i = 0; i < 2; ++i) {
    const auto request = sharing.define_shared(numbered(i), true, "");
    ASSERT_TRUE(request.ok()) << describe(request.error());
    EXPECT_FALSE(request.value().shared.has_value());
  }
}

TEST_F(ProbeDefinerTest, plan_tells_the_definitions_and_makes_none) {
  ProbeDefiner plan = ProbeDefiner::plan(ProbeKind::Heap);
  ProbeDefinition returns = kMalloc;
  returns.is_return = true;
  returns.event = "malloc_ret";
  returns.args = "result=%ax:u64";
  EXPECT_EQ(plan.define(kMalloc).value().info.name, "memtrace_heap_0:malloc");
  EXPECT_TRUE(plan.define(returns).ok());
  const std::vector<std::string> expected = {
      "p:memtrace_heap_0/malloc /lib/libc.so.6:0x98ef0 size=%di:u64 sp=%sp:u32",
      "r:memtrace_heap_0/malloc_ret /lib/libc.so.6:0x98ef0 result=%ax:u64"};
  EXPECT_EQ(plan.commands(), expected);
  EXPECT_FALSE(pid_of_probe_group("memtrace_heap_0").has_value()) << "nobody's: never stale";
}

}  // namespace
}  // namespace memtrace
