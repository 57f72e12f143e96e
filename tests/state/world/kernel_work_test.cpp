#include "state/world/kernel_work.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

// One thread's events go by tid alone.
class KernelWorkTest : public testing::Test {
 protected:
  void begin(std::uint64_t at_ns, const WorkBegin& begin, std::uint32_t tid = 1) {
    work_.begin(event_at(at_ns, tid), begin);
  }

  Work end(std::uint64_t at_ns, const WorkEnd& end, std::uint32_t tid = 1) {
    return work_.end(event_at(at_ns, tid), end);
  }

  static Event event_at(std::uint64_t at_ns, std::uint32_t tid) {
    Event event;
    event.time_ns = at_ns;
    event.pid = event.tid = tid;
    return event;
  }

  KernelWork work_;
};

constexpr WorkKind kDirect = WorkKind::DirectReclaim;
constexpr WorkKind kMemcg = WorkKind::MemcgReclaim;
constexpr WorkKind kSlab = WorkKind::SlabShrink;
constexpr WorkKind kCompaction = WorkKind::Compaction;

TEST_F(KernelWorkTest, begin_and_end_of_a_thread_make_a_work) {
  begin(100, {.kind = kDirect, .order = 3, .gfp = 0xcc0});
  const Work work = end(350, {.kind = kDirect, .pages = 32});
  EXPECT_TRUE(work.has_begin);
  EXPECT_EQ(work.duration_ns, 250U);
  EXPECT_EQ(work.begun_ns, 100U);
  EXPECT_EQ(work.begin.order, 3);
  EXPECT_EQ(work.end.pages, 32U);
  EXPECT_EQ(work.within, 0);
  EXPECT_TRUE(work_.open().empty());
}

TEST_F(KernelWorkTest, threads_do_not_meet) {
  begin(100, {.kind = kDirect}, 1);
  begin(200, {.kind = kDirect}, 2);
  EXPECT_EQ(end(300, {.kind = kDirect}, 1).duration_ns, 200U);
  EXPECT_EQ(end(300, {.kind = kDirect}, 2).duration_ns, 100U);
}

TEST_F(KernelWorkTest, works_nest_and_know_what_they_are_part_of) {
  begin(0, {.kind = kDirect});
  begin(10, {.kind = kMemcg});
  begin(20, {.kind = kSlab, .object = 7});
  const Work slab = end(30, {.kind = kSlab, .object = 7});
  EXPECT_TRUE(slab.is_within(kMemcg));
  EXPECT_TRUE(slab.is_within(kDirect));
  EXPECT_FALSE(slab.is_within(kSlab));
  EXPECT_TRUE(end(40, {.kind = kMemcg}).is_within(kDirect));
  EXPECT_EQ(end(50, {.kind = kDirect}).duration_ns, 50U);
}

TEST_F(KernelWorkTest, shrinker_inside_of_a_shrinker_ends_first) {
  begin(0, {.kind = kSlab, .object = 1});
  begin(10, {.kind = kSlab, .object = 2});
  const Work inner = end(15, {.kind = kSlab, .object = 2});
  EXPECT_EQ(inner.duration_ns, 5U);
  EXPECT_TRUE(inner.is_within(kSlab));
  EXPECT_EQ(end(30, {.kind = kSlab, .object = 1}).duration_ns, 30U);
}

TEST_F(KernelWorkTest, end_without_a_begin_has_no_duration) {
  const Work work = end(100, {.kind = kDirect, .pages = 5});
  EXPECT_FALSE(work.has_begin);
  EXPECT_EQ(work.duration_ns, 0U);
  EXPECT_EQ(work.end.pages, 5U);
  begin(200, {.kind = kMemcg});
  EXPECT_FALSE(end(300, {.kind = kDirect}).has_begin);
  EXPECT_TRUE(end(400, {.kind = kMemcg}).has_begin);  // still there
}

TEST_F(KernelWorkTest, what_is_inside_of_an_ended_work_has_ended_too) {
  begin(0, {.kind = kDirect});
  begin(10, {.kind = kSlab, .object = 1});
  EXPECT_TRUE(end(20, {.kind = kDirect}).has_begin);
  EXPECT_EQ(work_.abandoned(kSlab), 1U);
  EXPECT_FALSE(end(30, {.kind = kSlab, .object = 1}).has_begin);
}

TEST_F(KernelWorkTest, second_begin_of_a_kind_that_does_not_nest_replaces_the_first) {
  begin(0, {.kind = kDirect});
  begin(10, {.kind = kSlab});
  begin(100, {.kind = kDirect});
  EXPECT_EQ(work_.abandoned(kDirect), 1U);
  EXPECT_EQ(work_.abandoned(kSlab), 1U);
  EXPECT_EQ(end(150, {.kind = kDirect}).duration_ns, 50U);
}

TEST_F(KernelWorkTest, kswapd_that_wakes_again_was_awake_all_the_time) {
  begin(0, {.kind = WorkKind::Kswapd});
  begin(100, {.kind = WorkKind::Kswapd});
  EXPECT_EQ(end(300, {.kind = WorkKind::Kswapd}).duration_ns, 300U);
  EXPECT_EQ(work_.abandoned(WorkKind::Kswapd), 0U);
}

TEST_F(KernelWorkTest, times_that_run_backwards_give_no_negative_duration) {
  begin(100, {.kind = kDirect});
  EXPECT_EQ(end(90, {.kind = kDirect}).duration_ns, 0U);
}

TEST_F(KernelWorkTest, innermost_reclaim_of_a_thread_is_known) {
  EXPECT_EQ(work_.reclaim_of(1), WorkKind::Other);
  begin(0, {.kind = kDirect});
  begin(10, {.kind = kMemcg});
  begin(20, {.kind = kSlab});
  EXPECT_EQ(work_.reclaim_of(1), kMemcg);
  EXPECT_EQ(work_.reclaim_of(2), WorkKind::Other);
}

TEST_F(KernelWorkTest, thread_that_exits_or_loss_leaves_nothing_open) {
  begin(0, {.kind = kDirect}, 1);
  begin(0, {.kind = kDirect}, 2);
  begin(0, {.kind = kDirect}, 3);
  work_.forget(1);
  EXPECT_EQ(work_.abandoned(kDirect), 1U);
  work_.forget_all();
  EXPECT_EQ(work_.abandoned(kDirect), 3U);
  EXPECT_TRUE(work_.open().empty());
  EXPECT_FALSE(end(10, {.kind = kDirect}, 2).has_begin);
}

TEST_F(KernelWorkTest, compaction_knows_what_its_allocation_wants_in_every_zone) {
  work_.note(1, CompactionTry{.order = 9, .gfp = 0xcc0});
  for (const std::int32_t zone : {2, 1}) {
    work_.note(1, CompactionGoal{.node = 0, .zone = zone, .order = 9});
    begin(0, {.kind = kCompaction, .object = 0x1000, .sync = 0});
    work_.note(1, CompactionMoved{.migrated = 30, .put_back = 2});
    work_.note(1, CompactionMoved{.migrated = 10, .put_back = 0});
    for (const std::uint64_t failed : {1U, 0U}) {
      begin(20, {.kind = WorkKind::Migration});
      end(30, {.kind = WorkKind::Migration, .failed = failed});
    }
    const Work work = end(100, {.kind = kCompaction, .object = 0x1000, .status = 8});
    EXPECT_EQ(work.begin.order, 9);
    EXPECT_EQ(work.begin.zone, zone);
    EXPECT_EQ(work.begin.gfp, 0xcc0U);
    EXPECT_EQ(work.migrated, 40U);
    EXPECT_EQ(work.put_back, 2U);
    EXPECT_EQ(work.failed, 1U);
  }
}

TEST_F(KernelWorkTest, compaction_by_hand_is_for_no_allocation) {
  work_.note(1, CompactionTry{.order = 9, .gfp = 0xcc0});
  begin(0, {.kind = kCompaction});
  work_.note(1, CompactionGoal{.node = 0, .zone = 1, .order = -1});
  const Work work = end(100, {.kind = kCompaction});
  EXPECT_EQ(work.begin.order, -1);
  EXPECT_EQ(work.begin.zone, 1);
  EXPECT_EQ(work.begin.gfp, 0U);
}

}  // namespace
}  // namespace memtrace
