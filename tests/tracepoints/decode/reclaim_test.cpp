// Events of reclaim as saved kernels and older ones have them.
#include <gtest/gtest.h>

#include <string>

#include "support/filled_sample.h"

namespace memtrace::reclaim_test {
namespace {

constexpr auto kKernels = {"5.10", "6.1", "6.12", "6.18"};

EventFormat vmscan(const std::string& kernel, const std::string& name) {
  return saved_format(kernel, "vmscan:mm_" + name);
}

TEST(Reclaim, begins_and_ends_of_all_kinds_are_read_on_every_kernel) {
  const std::vector<std::pair<std::string, WorkKind>> kinds = {
      {"vmscan_direct_reclaim", WorkKind::DirectReclaim},
      {"vmscan_memcg_reclaim", WorkKind::MemcgReclaim},
      {"vmscan_memcg_softlimit_reclaim", WorkKind::SoftLimitReclaim},
      {"vmscan_node_reclaim", WorkKind::NodeReclaim}};
  for (const char* kernel : kKernels) {
    for (const auto& [name, kind] : kinds) {
      FilledSample begin(vmscan(kernel, name + "_begin"));
      begin.put("order", 3).put("gfp_flags", 0xcc0);
      const auto begun = begin.decode<WorkBegin>();
      EXPECT_EQ(begun.kind, kind) << kernel << name;
      EXPECT_EQ(begun.order, 3);
      EXPECT_EQ(begun.gfp, 0xcc0U);
      EXPECT_EQ(begun.node, kind == WorkKind::NodeReclaim ? 0 : -1);
      EXPECT_TRUE(begin.is_refused_when_cut());
      FilledSample end(vmscan(kernel, name + "_end"));
      const auto ended = end.put("nr_reclaimed", 77).decode<WorkEnd>();
      EXPECT_EQ(ended.kind, kind);
      EXPECT_EQ(ended.pages, 77U);
    }
  }
}

TEST(Reclaim, begins_of_older_kernels_have_more_fields) {
  FilledSample sample(made_format("vmscan",
                                  "mm_vmscan_direct_reclaim_begin",
                                  {"order", "may_writepage", "gfp_flags", "classzone_idx"}));
  const auto begin = sample.put("order", 2).put("gfp_flags", 0xd0).decode<WorkBegin>();
  EXPECT_EQ(begin.order, 2);
  EXPECT_EQ(begin.gfp, 0xd0U);
}

TEST(Reclaim, events_of_2_6_32_are_in_the_kmem_group) {
  const auto begin = FilledSample(made_format("kmem",
                                              "mm_vmscan_direct_reclaim_begin",
                                              {"order", "may_writepage", "gfp_flags"}))
                         .put("order", 1)
                         .decode<WorkBegin>();
  EXPECT_EQ(begin.kind, WorkKind::DirectReclaim);
  const auto wake = FilledSample(made_format("kmem", "mm_vmscan_kswapd_wake", {"nid", "order"}))
                        .decode<WorkBegin>();
  EXPECT_EQ(wake.kind, WorkKind::Kswapd);
  const auto write =
      FilledSample(made_format("kmem", "mm_vmscan_writepage", {"page", "file", "sync_io"}))
          .put("page", 0x1000)
          .put("file", 1)
          .decode<ReclaimWrite>();
  EXPECT_EQ(write.page, 0x1000U);
  EXPECT_TRUE(write.of_file);
}

TEST(Reclaim, shrinker_is_known_at_both_ends_and_what_it_freed_is_not_negative) {
  for (const char* kernel : kKernels) {
    FilledSample begin(vmscan(kernel, "shrink_slab_start"));
    begin.put("shr", 0xffff888000001000U).put("shrink", 0xffffffff81234560U).put("nid", 1);
    const auto begun = begin.decode<WorkBegin>();
    EXPECT_EQ(begun.kind, WorkKind::SlabShrink) << kernel;
    EXPECT_EQ(begun.object, 0xffff888000001000U);
    EXPECT_EQ(begun.function, 0xffffffff81234560U);
    EXPECT_EQ(begun.node, 1);
    FilledSample end(vmscan(kernel, "shrink_slab_end"));
    end.put("shr", 0xffff888000001000U).put("retval", 128);
    EXPECT_EQ(end.decode<WorkEnd>().object, begun.object);
    EXPECT_EQ(end.decode<WorkEnd>().pages, 128U);
    EXPECT_TRUE(end.decode<WorkEnd>().has_pages);
    EXPECT_EQ(end.put("retval", 0xffffffff).decode<WorkEnd>().pages, 0U);
  }
}

TEST(Reclaim, before_nodes_the_shrinkers_answer_is_not_what_it_freed) {
  FilledSample end(
      made_format("vmscan",
                  "mm_shrink_slab_end",
                  {"shr", "shrink", "unused_scan", "new_scan", "retval", "total_scan"}));
  const auto ended = end.put("retval", 5000).decode<WorkEnd>();
  EXPECT_EQ(ended.pages, 0U);
  EXPECT_FALSE(ended.has_pages);
}

TEST(Reclaim, inactive_pass_adds_up_what_was_activated) {
  for (const char* kernel : kKernels) {
    FilledSample sample(vmscan(kernel, "vmscan_lru_shrink_inactive"));
    sample.put("nr_scanned", 32).put("nr_reclaimed", 20).put("nr_activate0", 3);
    const auto shrink = sample.put("nr_activate1", 4).decode<LruShrink>();
    EXPECT_EQ(shrink.pass, LruPass::Inactive) << kernel;
    EXPECT_EQ(shrink.scanned, 32U);
    EXPECT_EQ(shrink.reclaimed, 20U);
    EXPECT_EQ(shrink.activated, 7U);
  }
}

TEST(Reclaim, inactive_pass_of_3_10_has_a_zone_and_nothing_of_activation) {
  FilledSample sample(
      made_format("vmscan",
                  "mm_vmscan_lru_shrink_inactive",
                  {"nid", "zid", "nr_scanned", "nr_reclaimed", "priority", "reclaim_flags"}));
  const auto shrink = sample.put("nr_scanned", 9).put("nr_reclaimed", 8).decode<LruShrink>();
  EXPECT_EQ(shrink.scanned, 9U);
  EXPECT_EQ(shrink.reclaimed, 8U);
  EXPECT_EQ(shrink.activated, 0U);
}

TEST(Reclaim, active_pass_is_not_scanned_for_reclaim) {
  for (const char* kernel : kKernels) {
    FilledSample sample(vmscan(kernel, "vmscan_lru_shrink_active"));
    sample.put("nr_taken", 32).put("nr_active", 10).put("nr_deactivated", 22);
    const auto shrink = sample.decode<LruShrink>();
    EXPECT_EQ(shrink.pass, LruPass::Active) << kernel;
    EXPECT_EQ(shrink.scanned, 0U);
    EXPECT_EQ(shrink.deactivated, 22U);
  }
}

TEST(Reclaim, written_pages_have_their_flags_under_both_names) {
  FilledSample page(vmscan("5.10", "vmscan_writepage"));
  EXPECT_FALSE(page.put("pfn", 5).put("reclaim_flags", 9).decode<ReclaimWrite>().of_file);
  for (const char* kernel : {"6.1", "6.12", "6.18"}) {
    FilledSample folio(vmscan(kernel, "vmscan_write_folio"));
    const auto write = folio.put("pfn", 5).put("reclaim_flags", 10).decode<ReclaimWrite>();
    EXPECT_TRUE(write.of_file) << kernel;
    EXPECT_EQ(write.page, 5U);
  }
}

TEST(Reclaim, kswapd_wakes_sleeps_and_is_asked_for) {
  for (const char* kernel : kKernels) {
    FilledSample wake(vmscan(kernel, "vmscan_kswapd_wake"));
    const auto begin = wake.put("nid", 1).put("order", 4).decode<WorkBegin>();
    EXPECT_EQ(begin.kind, WorkKind::Kswapd) << kernel;
    EXPECT_EQ(begin.node, 1);
    EXPECT_EQ(begin.order, 4);
    const auto end = FilledSample(vmscan(kernel, "vmscan_kswapd_sleep")).decode<WorkEnd>();
    EXPECT_EQ(end.kind, WorkKind::Kswapd);
    FilledSample asked(vmscan(kernel, "vmscan_wakeup_kswapd"));
    EXPECT_EQ(asked.put("order", 9).decode<KswapdRequest>().order, 9);
  }
}

TEST(Reclaim, throttling_is_in_microseconds) {
  FilledSample sample(vmscan("6.12", "vmscan_throttled"));
  const auto throttle =
      sample.put("usec_delayed", 20000).put("reason", 2).decode<ReclaimThrottle>();
  EXPECT_EQ(throttle.delayed_ns, 20'000'000U);
  EXPECT_EQ(throttle.reason, 2U);
}

TEST(Reclaim, event_without_the_field_that_matters_says_which) {
  const EventFormat format = made_format("vmscan", "mm_vmscan_direct_reclaim_end", {"memcg_id"});
  const auto decoder = decoder_for({"vmscan:mm_vmscan_direct_reclaim_end", 0, format});
  ASSERT_FALSE(decoder.ok());
  EXPECT_NE(describe(decoder.error()).find("nr_reclaimed"), std::string::npos);
}

}  // namespace
}  // namespace memtrace::reclaim_test
