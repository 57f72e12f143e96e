#include "tracepoints/probe/uprobe_names.h"

#include <gtest/gtest.h>

#include "tracepoints/format/format.h"

namespace memtrace {
namespace {

TEST(uprobe_names, group_names_carry_the_pid) {
  EXPECT_EQ(probe_group_name(ProbeKind::Events, 12), "memtrace_12");
  EXPECT_EQ(probe_group_name(ProbeKind::Heap, 12), "memtrace_heap_12");
  EXPECT_EQ(pid_of_probe_group("memtrace_12"), 12);
  EXPECT_EQ(pid_of_probe_group("memtrace_heap_12"), 12);
}

TEST(uprobe_names, groups_of_others_are_not_ours) {
  for (const char* group : {"uprobes",
                            "probe_libc",
                            "memtrace_",
                            "memtrace_heap_",
                            "memtrace_x1",
                            "memtrace_other_12",
                            "memtrace_12x",
                            "memtrace_0",
                            "memtrace_-5",
                            "xmemtrace_12",
                            "memtrace_99999999999"}) {
    EXPECT_FALSE(pid_of_probe_group(group)) << group;
  }
}

TEST(uprobe_names, event_names_are_identifiers_that_perf_can_read) {
  EXPECT_EQ(probe_event_name("malloc", {}), "malloc");
  EXPECT_EQ(probe_event_name("Pool::take", {}), "Pool__take");
  EXPECT_EQ(probe_event_name("9lives", {}), "f_9lives");
  EXPECT_EQ(probe_event_name("", {}), "f_");
  EXPECT_EQ(probe_event_name("r1", {}), "f_r1");
  EXPECT_EQ(probe_event_name("rBEEF", {}), "f_rBEEF");
  EXPECT_EQ(probe_event_name("realloc", {}), "realloc");
  EXPECT_EQ(probe_event_name("cycles", {}), "f_cycles");
}

TEST(uprobe_names, event_names_are_unique_and_short_enough) {
  EXPECT_EQ(probe_event_name("malloc", {"malloc"}), "malloc_2");
  EXPECT_EQ(probe_event_name("malloc", {"malloc", "malloc_2"}), "malloc_3");
  const std::string longest(63, 'x');
  EXPECT_EQ(probe_event_name(std::string(200, 'x'), {}), longest);
  EXPECT_EQ(probe_event_name(longest, {longest}), std::string(61, 'x') + "_2");
  EXPECT_EQ(probe_event_name("7" + longest, {}).size(), 63U);
}

TEST(uprobe_names, list_of_probes_is_read) {
  const auto probes = parse_probe_list(
      "p:memtrace_1/malloc /lib/libc.so.6:0x0000000000098930 size=%di:u64\n"
      "r:other/name-with:colon /x:0x1\n\nnonsense\n");
  ASSERT_EQ(probes.size(), 2U);
  EXPECT_EQ(probes[0].group, "memtrace_1");
  EXPECT_EQ(probes[0].event, "malloc");
  EXPECT_EQ(probes[1].group, "other");
}

TEST(uprobe_names, error_log_tells_the_last_reason_for_this_command) {
  const char* log =
      "[14548.842537] trace_uprobe: error: Invalid register name\n"
      "  Command: p:a/b /lib/x:0x1 size=%dx0:u64\n"
      "                            ^\n"
      "[14549.000000] trace_uprobe: error: Unknown type\n"
      "  Command: p:a/c /lib/x:0x1 size=%dx:u65\n"
      "                            ^\n";
  EXPECT_EQ(find_probe_error(log, "p:a/b /lib/x:0x1 size=%dx0:u64"), "Invalid register name");
  EXPECT_EQ(find_probe_error(log, "p:a/c /lib/x:0x1 size=%dx:u65"), "Unknown type");
  EXPECT_EQ(find_probe_error(log, "p:a/d /lib/x:0x1"), "");
  EXPECT_EQ(find_probe_error("", "p:a/d"), "");
}

// As Linux 6.18 gives it.
constexpr const char* kFormat =
    "name: malloc\nID: 2326\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:u64 size;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:s8 b;\toffset:24;\tsize:1;\tsigned:1;\n\n"
    "print fmt: \"(%lx) size=%Lu b=%d\", REC->__probe_ip, REC->size, REC->b\n";

TEST(uprobe_names, format_files_of_probes_are_parsed_as_any_others) {
  const auto format = parse_format(kFormat, "memtrace_1");
  ASSERT_TRUE(format.ok()) << format.error().message;
  ASSERT_NE(format.value().find("size"), nullptr);
  EXPECT_EQ(format.value().find("size")->offset_bytes, 16U);
  EXPECT_TRUE(format.value().find("b")->is_signed);
  EXPECT_EQ(format.value().find("__probe_ip")->offset_bytes, 8U);
}

}  // namespace
}  // namespace memtrace
