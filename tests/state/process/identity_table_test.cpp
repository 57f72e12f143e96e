#include "state/process/identity_table.h"

#include <gtest/gtest.h>

#include "state/world/world.h"

namespace memtrace {
namespace {

TEST(IdentityTable, the_same_pair_has_one_id) {
  IdentityTable table;
  const IdentityId first = table.intern(1000, "/a.service");
  EXPECT_EQ(table.intern(1000, "/a.service"), first);
  EXPECT_NE(table.intern(1000, "/b.service"), first);
  EXPECT_NE(table.intern(0, "/a.service"), first);
  EXPECT_EQ(table.uid(first), 1000U);
  EXPECT_EQ(table.cgroup(first), "/a.service");
  EXPECT_EQ(table.container(first), "a.service");
}

TEST(IdentityTable, one_identity_stands_for_all_of_a_user_a_cgroup_or_a_container) {
  IdentityTable table;
  const IdentityId main = table.intern(1, "/x.service");
  const IdentityId other_user = table.intern(2, "/x.service");
  const IdentityId below = table.intern(1, "/x.service/below");
  EXPECT_EQ(table.same_user(below), main);
  EXPECT_EQ(table.same_cgroup(other_user), main);
  EXPECT_EQ(table.same_container(below), main);
  EXPECT_EQ(table.same_user(other_user), other_user);
  EXPECT_EQ(table.same_cgroup(below), below);
}

TEST(IdentityTable, what_is_not_known_stands_for_nothing) {
  IdentityTable table;
  const IdentityId no_user = table.intern(kUnknownUser, "/x.service");
  const IdentityId no_cgroup = table.intern(7, "");
  EXPECT_FALSE(table.knows_user(no_user));
  EXPECT_TRUE(table.knows_cgroup(no_user));
  EXPECT_TRUE(table.knows_user(no_cgroup));
  EXPECT_FALSE(table.knows_cgroup(no_cgroup));
  EXPECT_FALSE(table.knows_user(IdentityId()));
  EXPECT_FALSE(table.same_user(no_user).valid());
  EXPECT_FALSE(table.same_cgroup(no_cgroup).valid());
  EXPECT_FALSE(table.same_container(no_cgroup).valid());
  EXPECT_EQ(table.user(no_user), "");
}

TEST(IdentityTable, a_user_without_a_name_is_a_number) {
  IdentityTable table;
  const IdentityId id = table.intern(1000, "/");
  EXPECT_EQ(table.user(id), "1000");
  table.name_user(1000, "anna");
  EXPECT_EQ(table.user(id), "anna");
}

class IdentityOfProcesses : public testing::Test {
 protected:
  IdentityId anna() { return world_.identities().intern(1000, "/anna.slice"); }

  IdentityId identity_of_event(std::uint32_t pid) {
    Event event{.pid = pid, .tid = pid};
    world_.apply(event, {});
    return event.identity;
  }

  World world_{{}};
};

TEST_F(IdentityOfProcesses, an_event_has_that_of_its_process_as_of_then) {
  EXPECT_FALSE(identity_of_event(7).valid());
  world_.identify(7, anna());
  EXPECT_EQ(identity_of_event(7), anna());
  world_.identify(7, world_.identities().intern(0, "/"));
  EXPECT_NE(identity_of_event(7), anna());
}

TEST_F(IdentityOfProcesses, a_forked_child_has_its_parents_until_another_is_learnt) {
  world_.identify(7, anna());
  world_.fork({.pid = 8, .parent_pid = 7, .tid = 8, .parent_tid = 7});
  world_.exit(7, 7);
  EXPECT_EQ(identity_of_event(8), anna());
  world_.exec(8);
  EXPECT_EQ(identity_of_event(8), anna());
}

TEST_F(IdentityOfProcesses, a_pid_that_is_used_again_forgets_its_former_life) {
  world_.identify(7, anna());
  world_.fork({.pid = 7, .parent_pid = 5, .tid = 7, .parent_tid = 5});
  EXPECT_FALSE(identity_of_event(7).valid());
}

TEST_F(IdentityOfProcesses, the_idle_task_is_roots_as_soon_as_anything_is_known) {
  EXPECT_FALSE(identity_of_event(0).valid());
  world_.identify(7, anna());
  EXPECT_EQ(world_.identities().uid(identity_of_event(0)), 0U);
  EXPECT_EQ(world_.identities().cgroup(identity_of_event(0)), "/");
}

TEST_F(IdentityOfProcesses, a_block_keeps_that_of_the_event_that_allocated_it) {
  World world({.track_live_blocks = true});
  const IdentityId first = world.identities().intern(1000, "/anna.slice");
  world.identify(7, first);
  Event alloc{.pid = 7, .tid = 7};
  world.apply(alloc, SlabAlloc{.ptr = 0x10, .bytes_alloc = 64});
  world.identify(7, world.identities().intern(0, "/"));
  Event free{.pid = 7, .tid = 7};
  world.apply(free, SlabFree{.ptr = 0x10});
  ASSERT_NE(free.freed, nullptr);
  EXPECT_EQ(free.freed->identity, first);
}

TEST_F(IdentityOfProcesses, an_allocation_tells_which_block_it_replaces) {
  World world({.track_live_blocks = true});
  Event alloc{.pid = 7, .tid = 7};
  world.apply(alloc, SlabAlloc{.ptr = 0x10, .bytes_alloc = 64});
  EXPECT_EQ(alloc.replaced, nullptr);
  world.apply(alloc, SlabAlloc{.ptr = 0x10, .bytes_alloc = 128});
  ASSERT_NE(alloc.replaced, nullptr);
  EXPECT_EQ(alloc.replaced->bytes, 64U);
}

}  // namespace
}  // namespace memtrace
