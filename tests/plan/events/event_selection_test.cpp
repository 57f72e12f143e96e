#include "plan/events/event_selection.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "views/all/all_views.h"

namespace memtrace {
namespace {

const EventRequest* request_of(const SelectedEvents& selected, std::string_view name) {
  const auto found = std::ranges::find(
      selected.requests, name, [](const EventRequest& one) { return one.info.name; });
  return found == selected.requests.end() ? nullptr : &*found;
}

// Nothing is mounted or defined, and what this user may not see is taken to be there: so this runs
// without root.
Result<SelectedEvents> plan(EventSelection selection) {
  selection.plan_only = true;
  return select_events(selection);
}

TEST(EventSelection, software_events_need_no_tracefs) {
  auto selected = plan({.events = {"minor-faults"}, .period = 7});
  ASSERT_TRUE(selected.ok()) << describe(selected.error());
  ASSERT_EQ(selected.value().requests.size(), 1U);
  const EventRequest& request = selected.value().requests.front();
  EXPECT_EQ(request.type, kTypeSoftware);
  EXPECT_EQ(request.info.config, 5U);
  EXPECT_EQ(request.info.period, 7U);
  EXPECT_TRUE(request.stacks);
}

TEST(EventSelection, unknown_names_are_errors_of_the_user) {
  const auto event = plan({.events = {"nonsense"}});
  ASSERT_FALSE(event.ok());
  EXPECT_EQ(event.error().kind, ErrorKind::Usage);
  const auto view = plan({.views = {"kmaloc"}});
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().kind, ErrorKind::Usage);
  EXPECT_NE(view.error().hint.find("kmalloc"), std::string::npos) << view.error().hint;
}

TEST(EventSelection, every_view_but_those_of_named_events_asks_for_something) {
  for (const NamedView& view : all_views()) {
    if (view.name == "calls") {
      continue;  // of probes that the user names
    }
    const auto selected = plan({.views = {std::string(view.name)},
                                .target = {.kind = TargetKind::Command, .command = {"/bin/true"}}});
    EXPECT_TRUE(selected.ok()) << view.name << ": " << describe(selected.error());
  }
}

// One in N of a pair would pair nothing, and a free is looked up by its block alone.
TEST(EventSelection, pairs_are_taken_whole_and_frees_without_stacks) {
  auto selected = plan({.views = {"slab", "reclaim"}, .period = 10});
  ASSERT_TRUE(selected.ok()) << describe(selected.error());
  const EventRequest* kfree = request_of(selected.value(), "kmem:kfree");
  const EventRequest* begin = request_of(selected.value(), "vmscan:mm_vmscan_direct_reclaim_begin");
  const EventRequest* end = request_of(selected.value(), "vmscan:mm_vmscan_direct_reclaim_end");
  ASSERT_TRUE(kfree != nullptr && begin != nullptr && end != nullptr);
  EXPECT_FALSE(kfree->stacks);
  EXPECT_TRUE(kfree->info.is_of_anybody);
  EXPECT_FALSE(begin->stacks);
  EXPECT_TRUE(end->stacks);
  EXPECT_EQ(begin->info.period, 1U);
  EXPECT_EQ(end->info.period, 1U);
  EXPECT_FALSE(end->in_bursts);
  const EventRequest* kmalloc = request_of(selected.value(), "kmem:kmalloc");
  ASSERT_NE(kmalloc, nullptr);
  EXPECT_EQ(kmalloc->info.period, 10U);
  EXPECT_TRUE(kmalloc->in_bursts);
}

TEST(EventSelection, what_the_user_names_has_stacks_even_where_a_view_does_without) {
  auto selected = plan({.events = {"kmem:kfree"}, .views = {"slab"}});
  ASSERT_TRUE(selected.ok()) << describe(selected.error());
  ASSERT_NE(request_of(selected.value(), "kmem:kfree"), nullptr);
  EXPECT_TRUE(request_of(selected.value(), "kmem:kfree")->stacks);
}

}  // namespace
}  // namespace memtrace
