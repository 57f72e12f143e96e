#include "perf/event/event_attr.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <bit>

namespace memtrace {
namespace {

TEST(EventAttr, an_event_of_windows_says_so_in_the_file) {
  const EventRequest request{
      .info = {.name = "kmem:kmalloc", .period = 67 * 4, .window_share = 4, .cycle_ns = 100}};
  const perf_event_attr written = file_attr(make_attr(request, {}), request);
  EXPECT_EQ(written.sample_period, 268U);
  EXPECT_EQ(written.config1, 4U);
  EXPECT_EQ(written.config2, 100U);
}

TEST(EventAttr, the_tracking_event_tells_of_data_only_when_it_is_wanted) {
  EXPECT_EQ(make_attr(tracking_request(), {}).mmap_data, 0U);
  EXPECT_EQ(make_attr(tracking_request(), {.data_mappings = true}).mmap_data, 1U);
}

TEST(EventAttr, stacks_are_copied_but_of_what_comes_in_bursts) {
  const CallGraph asked{.repair = true, .stack_bytes = 8192, .skip_kernel_work = true};
  const auto attr_of = [&](const std::string& name, bool on_user_code, bool in_bursts) {
    const EventRequest request{.info = {.name = name, .kind = EventKind::Tracepoint},
                               .type = kTypeTracepoint,
                               .on_user_code = on_user_code,
                               .in_bursts = in_bursts};
    return make_attr(request, {.call_graph = asked});
  };
  EXPECT_EQ(attr_of("exceptions:page_fault_user", false, false).sample_stack_user, 8192U);
  EXPECT_EQ(attr_of("exceptions:page_fault_user", false, false).exclude_callchain_kernel, 0U);
  EXPECT_EQ(attr_of("exceptions:page_fault_user", false, false).sample_regs_user,
            general_registers());
  EXPECT_EQ(attr_of("memtrace_heap_1:malloc", true, false).sample_stack_user, 8192U);
  EXPECT_EQ(attr_of("memtrace_heap_1:malloc", true, false).exclude_callchain_kernel, 1U);
  EXPECT_EQ(attr_of("memtrace_heap_1:malloc", true, false).sample_regs_user, caller_registers());
  EXPECT_EQ(attr_of("kmem:kmalloc", false, true).sample_stack_user, kRepairStackBytes);
  EXPECT_EQ(attr_of("kmem:kmalloc", false, true).exclude_callchain_user, 0U);
}

TEST(EventAttr, one_in_n_leaves_the_period_out_of_the_sample) {
  const EventRequest request{
      .info = {.name = "kmem:kmalloc", .kind = EventKind::Tracepoint, .period = 100},
      .type = kTypeTracepoint};
  const perf_event_attr attr = make_attr(request, {});
  EXPECT_EQ(attr.sample_period, 100U);
  EXPECT_EQ(attr.sample_type & PERF_SAMPLE_PERIOD, 0U);
  EXPECT_EQ(attr.size, 112U);
}

TEST(EventAttr, what_the_repair_used_up_is_not_in_the_file) {
  const EventRequest request{.info = {.kind = EventKind::Tracepoint}, .type = kTypeTracepoint};
  const perf_event_attr attr = make_attr(request, {.call_graph = {.repair = true}});
  EXPECT_NE(attr.sample_type & PERF_SAMPLE_STACK_USER, 0U);
  const perf_event_attr written = file_attr(attr, {});
  EXPECT_EQ(written.sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER), 0U);
  EXPECT_EQ(written.sample_stack_user, 0U);
}

TEST(EventAttr, stacks_to_be_unwound_come_with_registers_and_no_user_callchain) {
  const EventRequest request{.info = {.kind = EventKind::Tracepoint}, .type = kTypeTracepoint};
  const perf_event_attr attr = make_attr(request, {.call_graph = {.stack_bytes = 16384}});
  EXPECT_EQ(attr.sample_stack_user, 16384U);
  EXPECT_EQ(attr.sample_regs_user, general_registers());
  EXPECT_EQ(attr.exclude_callchain_user, 1U);
  EXPECT_EQ(attr.exclude_callchain_kernel, 0U);
  EXPECT_EQ(file_attr(attr, {}).exclude_callchain_user, 0U) << "the file holds the unwound frames";
}

TEST(EventAttr, probes_come_with_the_registers_that_find_callers) {
  const EventRequest request{
      .info = {.kind = EventKind::Tracepoint}, .type = kTypeTracepoint, .on_user_code = true};
  const perf_event_attr attr = make_attr(request, {.call_graph = {.stack_bytes = 8192}});
  EXPECT_EQ(attr.sample_regs_user, caller_registers());
  EXPECT_EQ(caller_registers() & ~general_registers(), 0U);
  EXPECT_NE(attr.sample_type & PERF_SAMPLE_IP, 0U) << "it stands for the register";
#if defined(__x86_64__)
  EXPECT_EQ(std::popcount(caller_registers()), 3);
#endif
}

TEST(EventAttr, system_calls_come_with_their_instruction_too) {
  EventRequest request{
      .info = {.kind = EventKind::Tracepoint}, .type = kTypeTracepoint, .at_system_call = true};
  const CallGraph copies{.stack_bytes = 8192};
  const std::uint64_t registers = make_attr(request, {.call_graph = copies}).sample_regs_user;
  EXPECT_EQ(registers & caller_registers(), caller_registers());
  EXPECT_EQ(registers & repair_registers(), repair_registers());
#if defined(__x86_64__)
  EXPECT_EQ(std::popcount(registers), 4);
#endif
  request.on_user_code = true;  // as views of the heap have it
  EXPECT_EQ(make_attr(request, {.call_graph = copies}).sample_regs_user, registers);
}

TEST(EventAttr, an_event_that_needs_no_stack_has_none) {
  const EventRequest request{
      .info = {.kind = EventKind::Tracepoint}, .type = kTypeTracepoint, .stacks = false};
  const perf_event_attr attr = make_attr(request, {.call_graph = {.stack_bytes = 8192}});
  EXPECT_EQ(attr.sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER), 0U);
  EXPECT_EQ(attr.sample_stack_user, 0U);
}

}  // namespace
}  // namespace memtrace
