#include <array>

#include "support/event_script.h"

namespace memtrace::test {
namespace {

Step call_of(const std::string& function, std::uint32_t stack = 1) {
  return {.event = "memtrace_12:" + function, .payload = {}, .stack = stack};
}

TEST(CallsView, counts_the_calls_of_each_probed_function) {
  EventScript script("calls");
  script.play({call_of("foo_open"), call_of("foo_close"), call_of("foo_open")});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("foo_open")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("foo_close")}, "count"), number(1));
  EXPECT_EQ(total(report, "count"), 3U);
}

TEST(CallsView, counts_allocator_functions_once_for_each_call) {
  EventScript script("calls");
  script.play(heap_alloc(0x10, 64));
  script.play(heap_alloc(0x20, 64));
  script.play(heap_free(0x10));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("malloc")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("free")}, "count"), number(1));
}

TEST(CallsView, static_probes_are_functions_too) {
  EventScript script("calls");
  Step step{.event = "memtrace_12:libc_memory_heap_new", .payload = ArenaEvent{}};
  script.play(step);
  EXPECT_EQ(figure(script.finish(), {text("libc_memory_heap_new")}, "count"), number(1));
}

TEST(CallsView, groups_by_stack_thread_and_several_keys) {
  EventScript script("calls", {.by = {"function", "stack", "tid"}});
  Step other = call_of("foo", 2);
  other.tid = 7;
  script.play({call_of("foo"), other, other});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("foo"), stack(1), number(100)}, "count"), number(1));
  EXPECT_EQ(figure(report, {text("foo"), stack(2), number(7)}, "count"), number(2));
}

TEST(CallsView, caller_is_nobody_who_only_passes_the_wish_on) {
  constexpr std::array<std::uint64_t, 3> kChain = {
      0xffffffff81000100, 0xffffffff81000200, 0xffffffff81000300};
  LocationId wrapper;
  EventScript script("calls",
                     {.by = {"caller"}, .is_allocation_wrapper = [&wrapper](LocationId place) {
                        return place == wrapper;
                      }});
  wrapper = script.world().intern_kernel_address(kChain[1]);
  const LocationId caller = script.world().intern_kernel_address(kChain[2]);
  script.play(call_of("malloc", script.world().intern_stack(100, kChain).value));
  EXPECT_EQ(figure(script.finish(), {Cell(caller)}, "count"), number(1));
}

TEST(CallsView, scales_by_the_period_and_gives_a_rate) {
  EventScript script("calls");
  Step step = call_of("foo");
  step.weight = 50;
  script.play({step, step});
  const Report report = script.finish({.start_ns = 0, .end_ns = 2'000'000'000});
  EXPECT_EQ(figure(report, {text("foo")}, "count"), number(100));
  EXPECT_EQ(figure(report, {text("foo")}, "rate"), Cell(50.0));
}

TEST(CallsView, an_interval_begins_with_nothing) {
  EventScript script("calls");
  script.play(call_of("foo"));
  script.finish();
  EXPECT_EQ(total(script.finish(), "count"), 0U);
}

TEST(CallsView, takes_user_probes_only) {
  const auto handles = find_view("calls")->spec.handles;
  EXPECT_TRUE(handles(event_named("memtrace_12:foo")));
  EXPECT_TRUE(handles(event_named("memtrace_heap_12:malloc")));
  EXPECT_TRUE(handles(event_named("sdt_libc:memory_heap_new")));
  EXPECT_FALSE(handles(event_named("kmem:kmalloc")));
}

}  // namespace
}  // namespace memtrace::test
