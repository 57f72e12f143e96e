#include "support/work_steps.h"

namespace memtrace::test {
namespace {

constexpr WorkKind kDirect = WorkKind::DirectReclaim;
constexpr WorkKind kMemcg = WorkKind::MemcgReclaim;

std::vector<Step> one(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t pages) {
  return {begin(begin_ns, {.kind = kDirect, .order = 0, .gfp = 0xcc0}),
          end(end_ns, {.kind = kDirect, .pages = pages})};
}

TEST(Reclaim, latency_and_pages_by_process) {
  EventScript script("reclaim");
  script.name_process(100, "hog");
  for (std::uint64_t i = 0; i < 100; ++i) {
    script.play(one(i * 10'000, i * 10'000 + (i + 1) * 10, 32));
  }
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("hog")}, "count"), number(100));
  EXPECT_EQ(figure(report, {text("hog")}, "time_ns"), number(50'500));
  EXPECT_EQ(figure(report, {text("hog")}, "avg_ns"), number(505));
  EXPECT_EQ(figure(report, {text("hog")}, "max_ns"), number(1000));
  EXPECT_EQ(figure(report, {text("hog")}, "pages"), number(3200));
  const auto median = std::get<std::uint64_t>(figure(report, {text("hog")}, "p50_ns"));
  EXPECT_GE(median, 500U);
  EXPECT_LE(median, 532U);
  EXPECT_EQ(total(report, "count"), 100U);
  EXPECT_EQ(report.histograms.size(), 1U);
}

TEST(Reclaim, latencies_are_distributed_in_each_row_if_asked) {
  EventScript script("reclaim", {.own = {{"hist", "1"}}});
  script.name_process(100, "hog");
  script.play(one(0, 1500, 32));
  script.play(one(2000, 3600, 32));
  const auto histograms = script.finish().tables[0].histograms;
  ASSERT_EQ(histograms.size(), 1U);
  EXPECT_EQ(histograms[0].keys, (std::vector<Cell>{text("hog")}));
  EXPECT_EQ(histograms[0].histogram.buckets.back().low, 1024U);
  EXPECT_EQ(histograms[0].histogram.buckets.back().count, 2U);
}

TEST(Reclaim, of_a_cgroup_inside_of_direct_reclaim_is_a_reclaim_of_its_own) {
  EventScript script("reclaim", {.by = {"kind"}});
  script.play({begin(0, {.kind = kDirect}),
               begin(10, {.kind = kMemcg}),
               end(30, {.kind = kMemcg, .pages = 4}),
               end(100, {.kind = kDirect, .pages = 9})});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("memcg")}, "time_ns"), number(20));
  EXPECT_EQ(figure(report, {text("direct")}, "time_ns"), number(100));
  EXPECT_EQ(total(report, "time_ns"), 100U);  // the thread waited once
  EXPECT_EQ(total(report, "pages"), 9U);      // of which the cgroup's are a part
}

TEST(Reclaim, trace_lists_each_one_in_order) {
  EventScript script("reclaim", {.own = {{"trace", "1"}}});
  script.name_process(100, "hog");
  script.play(one(1000, 1500, 32));
  script.play(end(2000, {.kind = kDirect, .pages = 7}));
  const Table list = script.lines({.start_ns = 500, .end_ns = 3000});
  EXPECT_TRUE(list.fixed);
  ASSERT_EQ(list.rows.size(), 2U);
  const std::vector<Cell>& first = list.rows[0];
  EXPECT_EQ(first[column_index(list, "at_ns")], number(1000));
  EXPECT_EQ(first[column_index(list, "comm")], text("hog"));
  EXPECT_EQ(first[column_index(list, "tid")], number(100));
  EXPECT_EQ(first[column_index(list, "kind")], text("direct"));
  EXPECT_EQ(first[column_index(list, "order")], number(0));
  EXPECT_EQ(first[column_index(list, "latency_ns")], number(500));
  EXPECT_EQ(first[column_index(list, "pages")], number(32));
  const std::vector<Cell>& second = list.rows[1];
  EXPECT_EQ(second[column_index(list, "latency_ns")], Cell());
  EXPECT_EQ(second[column_index(list, "order")], Cell());
}

TEST(Reclaim, trace_has_what_proc_said_if_it_was_read) {
  EventScript script("reclaim", {.own = {{"trace", "1"}}});
  Observation seen{.reader = "reclaim", .time_ns = 1500, .tid = 100};
  seen.facts.numbers = {{"uid", 1000}, {"free", 4096}};
  script.world().observations().add(seen);
  script.play(one(1000, 1500, 32));
  script.play(one(2000, 2500, 32));
  const Table list = script.lines();
  EXPECT_EQ(list.rows.at(0)[column_index(list, "uid")], number(1000));
  EXPECT_EQ(list.rows.at(0)[column_index(list, "free")], number(4096));
  EXPECT_EQ(list.rows.at(1)[column_index(list, "free")], Cell());
}

TEST(Reclaim, gfp_flags_are_named_by_the_begins_format) {
  EventScript script("reclaim", {.by = {"gfp"}});
  Field& gfp = script.add_field("vmscan:mm_vmscan_direct_reclaim_begin", "gfp_flags");
  gfp.flags = {{0xcc0, "GFP_KERNEL"}};
  script.play(one(0, 10, 1));
  EXPECT_EQ(figure(script.finish(), {text("GFP_KERNEL")}, "count"), number(1));
}

TEST(Reclaim, end_without_a_begin_counts_but_has_no_latency) {
  EventScript script("reclaim", {.by = {"pid"}});
  script.play(end(2000, {.kind = kDirect, .pages = 7}));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "count"), number(1));
  EXPECT_EQ(figure(report, {number(100)}, "avg_ns"), Cell());
  EXPECT_TRUE(has_note(report, "began before"));
}

TEST(Reclaim, kernel_without_the_cgroups_events_says_so) {
  EventScript script("reclaim");
  script.type("kmem:mm_vmscan_direct_reclaim_begin");
  script.type("kmem:mm_vmscan_direct_reclaim_end");
  ASSERT_TRUE(script.check().ok());
  EXPECT_TRUE(has_note(script.finish(), "memory cgroups was not recorded"));
}

TEST(Reclaim, every_key_can_be_asked) {
  for (const std::string_view key : find_view("reclaim")->spec.keys) {
    EventScript script("reclaim", {.by = {std::string(key)}});
    script.play(one(0, 10, 1));
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

}  // namespace
}  // namespace memtrace::test
