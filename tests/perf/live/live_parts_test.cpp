// The parts of a live source that need no privilege.
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <thread>

#include "perf/event/event_attr.h"
#include "perf/event/event_set.h"
#include "perf/target/proc_snapshot.h"
#include "perf/target/target.h"

namespace memtrace {
namespace {

TEST(ProcSnapshotTest, a_line_of_maps_is_taken_apart) {
  const auto mapping = parse_maps_line(
      "7f3a00001000-7f3a00003000 r-xp 00002000 fe:01 1234                       /usr/lib/a b.so");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->start, 0x7f3a00001000U);
  EXPECT_EQ(mapping->length_bytes, 0x2000U);
  EXPECT_EQ(mapping->file_offset, 0x2000U);
  EXPECT_EQ(mapping->major, 0xfeU);
  EXPECT_EQ(mapping->minor, 1U);
  EXPECT_EQ(mapping->inode, 1234U);
  EXPECT_EQ(mapping->prot, 5U);
  EXPECT_EQ(mapping->path, "/usr/lib/a b.so");
}

TEST(ProcSnapshotTest, a_mapping_without_a_name_is_anonymous) {
  const auto mapping = parse_maps_line("1000-2000 rwxp 00000000 00:00 0 ");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->path, "//anon");
  EXPECT_FALSE(parse_maps_line("").has_value());
  EXPECT_FALSE(parse_maps_line("1000 rwxp 0 00:00 0").has_value());
}

TEST(ProcSnapshotTest, this_process_is_described_with_its_threads_and_code) {
  RecordBuilder records(1);
  snapshot_process(static_cast<std::uint32_t>(::getpid()), records);
  EXPECT_GT(records.bytes().size(), 200U);
  EXPECT_EQ(process_of(static_cast<std::uint32_t>(::gettid())).value(),
            static_cast<std::uint32_t>(::getpid()));
  EXPECT_FALSE(process_of(0x7ffffffe).ok());
}

TEST(ProcSnapshotTest, data_is_told_only_when_it_is_wanted) {
  RecordBuilder code(1);
  RecordBuilder all(1);
  snapshot_process(static_cast<std::uint32_t>(::getpid()), code);
  snapshot_process(static_cast<std::uint32_t>(::getpid()), all, KeptMaps::All);
  EXPECT_GT(all.bytes().size(), 2 * code.bytes().size());
  EXPECT_FALSE(parse_maps_line("1000-2000 rw-p 00000000 00:00 0 ")->executable);
  EXPECT_TRUE(parse_maps_line("1000-2000 r-xp 00000000 00:00 0 ")->executable);
}

TEST(EventAttrTest, the_tracking_event_tells_of_data_only_when_it_is_wanted) {
  EXPECT_EQ(make_attr(tracking_request(), {}).mmap_data, 0U);
  EXPECT_EQ(make_attr(tracking_request(), {.data_mappings = true}).mmap_data, 1U);
}

TEST(EventSetTest, rings_are_large_but_no_burden) {
  constexpr std::uint64_t kGib = std::uint64_t{1} << 30U;
  EXPECT_EQ(default_ring_bytes(24 * kGib, 2, StackCopies::None), std::size_t{64} << 20U);
  EXPECT_EQ(default_ring_bytes(256 * kGib, 128, StackCopies::None), std::size_t{32} << 20U);
  EXPECT_EQ(default_ring_bytes(kGib / 4, 2, StackCopies::None), std::size_t{2} << 20U);
  EXPECT_EQ(default_ring_bytes(0, 64, StackCopies::None), std::size_t{64} << 10U);
  EXPECT_EQ(queue_limit_bytes(24 * kGib), 2 * kGib);
  EXPECT_EQ(queue_limit_bytes(kGib / 2), kGib / 24);
  EXPECT_EQ(queue_limit_bytes(0), std::size_t{16} << 20U);
}

TEST(EventSetTest, rings_for_copied_stacks_are_larger) {
  constexpr std::uint64_t kGib = std::uint64_t{1} << 30U;
  EXPECT_EQ(default_ring_bytes(24 * kGib, 2, StackCopies::Many), std::size_t{256} << 20U);
  EXPECT_EQ(default_ring_bytes(256 * kGib, 64, StackCopies::Many), std::size_t{128} << 20U);
  EXPECT_EQ(default_ring_bytes(2 * kGib, 2, StackCopies::Many), std::size_t{64} << 20U);
  EXPECT_EQ(default_ring_bytes(kGib / 4, 2, StackCopies::Many), std::size_t{8} << 20U);
  EXPECT_EQ(default_ring_bytes(24 * kGib, 2, StackCopies::Some), std::size_t{64} << 20U);
  EXPECT_EQ(default_ring_bytes(2 * kGib, 2, StackCopies::Some), std::size_t{32} << 20U);
}

// How user stacks are found where nothing was asked for.
TEST(EventAttrTest, stacks_are_copied_but_of_what_comes_in_bursts) {
  const CallGraph asked{.repair = true, .stack_bytes = 8192, .spares_bursts = true};
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

TEST(EventAttrTest, one_in_n_leaves_the_period_out_of_the_sample) {
  const EventRequest request{
      .info = {.name = "kmem:kmalloc", .kind = EventKind::Tracepoint, .period = 100},
      .type = kTypeTracepoint};
  const perf_event_attr attr = make_attr(request, {});
  EXPECT_EQ(attr.sample_period, 100U);
  EXPECT_EQ(attr.sample_type & PERF_SAMPLE_PERIOD, 0U);
  EXPECT_EQ(attr.size, 112U);
}

TEST(EventAttrTest, what_the_repair_used_up_is_not_in_the_file) {
  const EventRequest request{.info = {.kind = EventKind::Tracepoint}, .type = kTypeTracepoint};
  const perf_event_attr attr = make_attr(request, {.call_graph = {.repair = true}});
  EXPECT_NE(attr.sample_type & PERF_SAMPLE_STACK_USER, 0U);
  const perf_event_attr written = file_attr(attr, {});
  EXPECT_EQ(written.sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER), 0U);
  EXPECT_EQ(written.sample_stack_user, 0U);
}

TEST(EventAttrTest, stacks_to_be_unwound_come_with_registers_and_no_user_callchain) {
  const EventRequest request{.info = {.kind = EventKind::Tracepoint}, .type = kTypeTracepoint};
  const perf_event_attr attr = make_attr(request, {.call_graph = {.stack_bytes = 16384}});
  EXPECT_EQ(attr.sample_stack_user, 16384U);
  EXPECT_EQ(attr.sample_regs_user, general_registers());
  EXPECT_EQ(attr.exclude_callchain_user, 1U);
  EXPECT_EQ(attr.exclude_callchain_kernel, 0U);
  EXPECT_EQ(file_attr(attr, {}).exclude_callchain_user, 0U) << "the file holds the unwound frames";
}

TEST(EventAttrTest, probes_come_with_the_registers_that_find_callers) {
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

// PERF_SAMPLE_IP of raw_syscalls:sys_enter is the kernel's.
TEST(EventAttrTest, system_calls_come_with_their_instruction_too) {
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

TEST(EventAttrTest, an_event_that_needs_no_stack_has_none) {
  const EventRequest request{
      .info = {.kind = EventKind::Tracepoint}, .type = kTypeTracepoint, .stacks = false};
  const perf_event_attr attr = make_attr(request, {.call_graph = {.stack_bytes = 8192}});
  EXPECT_EQ(attr.sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER), 0U);
  EXPECT_EQ(attr.sample_stack_user, 0U);
}

TEST(HeldCommandTest, waits_to_be_released_and_gives_its_status) {
  auto command =
      HeldCommand::spawn({.kind = TargetKind::Command, .command = {"sh", "-c", "exit 3"}});
  ASSERT_TRUE(command.ok());
  EXPECT_FALSE(command.value().poll_exit().has_value());
  ASSERT_TRUE(command.value().release().ok());
  std::optional<int> status;
  for (int i = 0; i < 500 && !status; ++i) {
    status = command.value().poll_exit();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(WEXITSTATUS(*status), 3);
  EXPECT_EQ(describe_wait_status(*status), "exited with status 3");
}

TEST(HeldCommandTest, a_command_that_is_not_there_is_an_error_with_a_hint) {
  auto command = HeldCommand::spawn({.kind = TargetKind::Command, .command = {"/no/such/command"}});
  ASSERT_TRUE(command.ok());
  const auto released = command.value().release();
  ASSERT_FALSE(released.ok());
  EXPECT_EQ(released.error().errno_value, ENOENT);
  EXPECT_FALSE(released.error().hint.empty());
}

TEST(HeldCommandTest, an_unreleased_command_never_runs) {
  pid_t pid = 0;
  {
    auto command = HeldCommand::spawn({.kind = TargetKind::Command, .command = {"sleep", "1000"}});
    ASSERT_TRUE(command.ok());
    pid = command.value().pid();
  }
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
}

TEST(TargetTest, a_process_that_is_not_there_is_an_error) {
  EXPECT_FALSE(threads_of(0x7ffffffe).ok());
  EXPECT_GE(threads_of(static_cast<std::uint32_t>(::getpid())).value().size(), 1U);
}

}  // namespace
}  // namespace memtrace
