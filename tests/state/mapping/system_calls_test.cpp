// Entries and exits of system calls become whole calls.
#include "state/mapping/system_calls.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "state/mapping/refused_memory.h"
#include "state/world/world.h"

namespace memtrace {
namespace {

Event event_at(std::uint64_t time_ns, std::uint32_t tid = 10) {
  static const EventType kType;
  Event event;
  event.type = &kType;
  event.time_ns = time_ns;
  event.pid = 10;
  event.tid = tid;
  return event;
}

class WorldCallsTest : public testing::Test {
 protected:
  void enter(SystemCall call,
             std::uint64_t argument,
             std::uint64_t time_ns,
             std::uint32_t tid = 10) {
    Event event = event_at(time_ns, tid);
    event.stack = StackId{7};
    world_.apply(event, SystemCallEntry{.call = call, .arguments = {argument}});
  }

  Event leave(SystemCall call, std::int64_t result, std::uint64_t time_ns, std::uint32_t tid = 10) {
    Event event = event_at(time_ns, tid);
    world_.apply(event, SystemCallExit{.call = call, .result = result});
    return event;
  }

  // Nothing but which call it is of.
  static bool is_lone_exit(const Event& event, SystemCall call) {
    return std::holds_alternative<std::monostate>(event.payload) && event.call == call;
  }

  World world_{{.track_mappings = true}};
};

TEST_F(WorldCallsTest, the_exit_has_the_arguments_the_duration_and_the_stack_of_the_entry) {
  enter(SystemCall::Brk, 0x5000, 100);
  const Event event = leave(SystemCall::Brk, 0x4000, 130);
  const auto& done = std::get<SystemCallDone>(event.payload);
  EXPECT_EQ(done.call, SystemCall::Brk);
  EXPECT_EQ(done.arguments[0], 0x5000U);
  EXPECT_EQ(done.result, 0x4000);
  EXPECT_EQ(done.duration_ns, 30U);
  EXPECT_EQ(event.stack, StackId{7});
}

TEST_F(WorldCallsTest, threads_are_told_apart) {
  enter(SystemCall::Brk, 1, 100, 10);
  enter(SystemCall::Munmap, 2, 101, 11);
  const Event first = leave(SystemCall::Brk, 0, 110, 10);
  const Event second = leave(SystemCall::Munmap, 0, 111, 11);
  EXPECT_EQ(std::get<SystemCallDone>(first.payload).arguments[0], 1U);
  EXPECT_EQ(std::get<SystemCallDone>(second.payload).arguments[0], 2U);
}

TEST_F(WorldCallsTest, an_exit_without_its_entry_says_only_which_call_it_was) {
  EXPECT_TRUE(is_lone_exit(leave(SystemCall::Brk, 0, 1), SystemCall::Brk));
  enter(SystemCall::Munmap, 1, 2);
  EXPECT_TRUE(is_lone_exit(leave(SystemCall::Brk, 0, 3), SystemCall::Brk));
  EXPECT_TRUE(is_lone_exit(leave(SystemCall::Munmap, 0, 4), SystemCall::Munmap));
}

TEST_F(WorldCallsTest, the_child_of_a_fork_leaves_a_call_that_it_did_not_enter) {
  enter(SystemCall::Fork, 0, 1);
  world_.fork({.pid = 20, .parent_pid = 10, .tid = 20, .parent_tid = 10});
  EXPECT_TRUE(is_lone_exit(leave(SystemCall::Fork, 0, 2, 20), SystemCall::Fork));
  const Event parent = leave(SystemCall::Fork, 20, 3);
  EXPECT_EQ(std::get<SystemCallDone>(parent.payload).result, 20);
}

TEST_F(WorldCallsTest, an_entry_dies_with_its_thread_with_exec_and_with_a_loss) {
  enter(SystemCall::Brk, 1, 1, 11);
  world_.exit(10, 11);
  EXPECT_TRUE(is_lone_exit(leave(SystemCall::Brk, 0, 2, 11), SystemCall::Brk));
  enter(SystemCall::Brk, 1, 3);
  world_.exec(10);
  EXPECT_TRUE(is_lone_exit(leave(SystemCall::Brk, 0, 4), SystemCall::Brk));
  enter(SystemCall::Brk, 1, 5);
  world_.note_loss(1);
  EXPECT_TRUE(is_lone_exit(leave(SystemCall::Brk, 0, 6), SystemCall::Brk));
}

TEST_F(WorldCallsTest, calls_change_the_mappings_that_records_have_announced) {
  world_.announce({.pid = 10,
                   .tid = 10,
                   .range = {0x10000, 0x14000},
                   .file_offset = 0x2000,
                   .area = {.kind = AreaKind::File, .path = StringId{1}, .protection = 1}});
  const auto found = world_.find(10, 0x11234);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->start, 0x10000U);
  EXPECT_EQ(found->limit, 0x14000U);
  EXPECT_EQ(found->file_offset, 0x3234U);
  Event entry = event_at(1);
  world_.apply(entry, SystemCallEntry{.call = SystemCall::Munmap, .arguments = {0x10000, 0x1000}});
  leave(SystemCall::Munmap, 0, 2);
  EXPECT_FALSE(world_.find(10, 0x10000).has_value());
  EXPECT_TRUE(world_.find(10, 0x11000).has_value());
}

TEST(SystemCalls, entries_that_were_given_up_are_counted) {
  SystemCalls calls;
  calls.enter(1, {.entry = {.call = SystemCall::Brk}});
  calls.enter(1, {.entry = {.call = SystemCall::Munmap}});
  EXPECT_FALSE(calls.leave(1, SystemCall::Brk).has_value());
  EXPECT_EQ(calls.unfinished(), 2U);
}

TEST(MemoryFailure, is_told_by_the_call_and_its_error) {
  const auto refused = [](SystemCall call, std::int64_t result, std::uint64_t argument = 0) {
    return was_refused_memory({.call = call, .arguments = {argument}, .result = result});
  };
  EXPECT_TRUE(refused(SystemCall::Mmap, -ENOMEM));
  EXPECT_FALSE(refused(SystemCall::Mmap, -EINVAL));
  EXPECT_FALSE(refused(SystemCall::Mmap, 0x1000));
  EXPECT_TRUE(refused(SystemCall::Clone3, -EAGAIN));
  EXPECT_FALSE(refused(SystemCall::Mprotect, -EAGAIN));
  EXPECT_TRUE(refused(SystemCall::Shmget, -ENOSPC));
  EXPECT_TRUE(refused(SystemCall::Brk, 0x1000, 0x2000));
  EXPECT_FALSE(refused(SystemCall::Brk, 0x2000, 0x2000));
  EXPECT_FALSE(refused(SystemCall::Brk, 0x2000, 0));
  EXPECT_FALSE(refused(SystemCall::Munmap, -ENOMEM));
}

}  // namespace
}  // namespace memtrace
