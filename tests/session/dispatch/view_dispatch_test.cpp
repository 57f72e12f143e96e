// Which views get an event: those that handle it, and those of the heap when a program mapped
// memory itself.
#include "session/dispatch/view_dispatch.h"

#include <gtest/gtest.h>

#include <array>

#include "state/mapping/map_flags.h"

namespace memtrace {
namespace {

class CountingView final : public View {
 public:
  void on(const Event& event, const World& /*world*/) override {
    names.push_back(event.type->name);
  }

  Report finish(const World& /*world*/, Span /*span*/) override { return {}; }

  std::vector<std::string> names;
};

using Names = std::vector<std::string>;

constexpr auto kHeapNeeds = std::to_array<std::string_view>({"heap:malloc"});
constexpr auto kSlabNeeds = std::to_array<std::string_view>({"kmem:kmalloc|"});

class ViewDispatchTest : public testing::Test {
 protected:
  ViewDispatchTest() {
    dispatch_.set_views({&heap_spec_, &slab_spec_}, {&heap_, &slab_});
    recording_.events = {{.name = "kmem:kmalloc"}, {.name = "syscalls:sys_exit_mmap"}};
    types_ = {{.name = "kmem:kmalloc", .index = 0}, {.name = "syscalls:sys_exit_mmap", .index = 1}};
    dispatch_.learn(types_, recording_);
  }

  void play(std::size_t type, const RawPayload& payload) {
    Event event{.time_ns = 1, .pid = 10, .tid = 10, .stack = stack_, .type = &types_[type]};
    world_.apply(event, payload);
    dispatch_.count(event);
    dispatch_.dispatch(event, world_);
  }

  ViewSpec heap_spec_{.needs = kHeapNeeds};
  ViewSpec slab_spec_{.needs = kSlabNeeds};
  CountingView heap_;
  CountingView slab_;
  ViewDispatch dispatch_;
  Recording recording_;
  std::deque<EventType> types_;
  World world_{{.track_heap_mappings = true}};
  StackId stack_ = world_.intern_stack(10, std::to_array<std::uint64_t>({kContextUser, 0x400100}));
};

TEST_F(ViewDispatchTest, event_goes_to_the_views_that_handle_it) {
  play(0, SlabAlloc{.ptr = 1});
  EXPECT_EQ(slab_.names, Names{"kmem:kmalloc"});
  EXPECT_TRUE(heap_.names.empty());
  EXPECT_TRUE(dispatch_.has_events(1));
  EXPECT_FALSE(dispatch_.has_events(0));
}

// They choose whole processes when they report, and another thread or task changes these, too.
TEST_F(ViewDispatchTest, event_of_an_unwanted_task_goes_to_views_of_what_is_resident) {
  ViewSpec resident_spec{.needs = kSlabNeeds, .needs_resident_pages = true};
  CountingView resident;
  ViewDispatch dispatch;
  dispatch.set_views({&slab_spec_, &resident_spec}, {&slab_, &resident});
  dispatch.learn(types_, recording_);
  const Event event{.time_ns = 1, .pid = 10, .tid = 10, .type = &types_[0]};
  dispatch.dispatch_unwanted(event, world_);
  EXPECT_EQ(resident.names, Names{"kmem:kmalloc"});
  EXPECT_TRUE(slab_.names.empty());
}

// System calls change the mappings that other events are read by.
TEST_F(ViewDispatchTest, event_is_needed_by_a_view_or_by_what_others_are_read_by) {
  recording_.events.push_back({.name = "kmem:mm_page_alloc"});
  recording_.events.push_back({.name = "minor-faults"});
  types_.push_back({.name = "kmem:mm_page_alloc", .index = 2});
  types_.push_back({.name = "minor-faults", .index = 3});
  EXPECT_TRUE(dispatch_.needs(2)) << "not known yet";
  dispatch_.learn(types_, recording_);
  EXPECT_TRUE(dispatch_.needs(0));
  EXPECT_TRUE(dispatch_.needs(1));
  EXPECT_FALSE(dispatch_.needs(2));
  EXPECT_FALSE(dispatch_.needs(3));
}

TEST_F(ViewDispatchTest, what_a_program_maps_itself_goes_to_the_views_of_the_heap) {
  play(1,
       SystemCallEntry{
           .call = SystemCall::Mmap,
           .arguments = {0, 4096, kProtectRead | kProtectWrite, kMapPrivate | kMapAnonymous}});
  EXPECT_TRUE(heap_.names.empty()) << "nothing is mapped yet";
  play(1, SystemCallExit{.call = SystemCall::Mmap, .result = 0x7f0000000000});
  ASSERT_NE(world_.mapped_change(), nullptr);
  EXPECT_EQ(heap_.names, Names{"syscalls:sys_exit_mmap"});
  EXPECT_TRUE(slab_.names.empty());
  EXPECT_FALSE(dispatch_.has_events(0)) << "a recording of system calls alone is none of the heap";
}

}  // namespace
}  // namespace memtrace
