#include "support/truth_rows.h"
#include "support/work_steps.h"

namespace memtrace::test::vmscan_view_test {
namespace {

constexpr WorkKind kDirect = WorkKind::DirectReclaim;
constexpr WorkKind kMemcg = WorkKind::MemcgReclaim;
constexpr WorkKind kSlab = WorkKind::SlabShrink;
constexpr WorkKind kKswapd = WorkKind::Kswapd;

Cell of_kind(const Report& report, std::string_view kind, std::string_view column) {
  const Table& table = report.tables.at(1);
  const auto* row = find_row(table, {text(kind)});
  return row == nullptr ? text("no row") : (*row)[column_index(table, column)];
}

std::vector<Step> one_reclaim(WorkKind kind,
                              std::uint64_t begin_ns,
                              std::uint64_t end_ns,
                              std::uint64_t pages) {
  return {begin(begin_ns, {.kind = kind}), end(end_ns, {.kind = kind, .pages = pages})};
}

TEST(Vmscan, time_and_pages_of_each_kind) {
  EventScript script("vmscan");
  script.name_process(100, "hog");
  script.play(one_reclaim(kDirect, 0, 1000, 32));
  script.play(one_reclaim(kDirect, 2000, 5000, 10));
  script.play(one_reclaim(kMemcg, 6000, 6500, 7));
  const Report report = script.finish();
  EXPECT_EQ(total(report, "direct_ns"), 4000U);
  EXPECT_EQ(total(report, "memcg_ns"), 500U);
  EXPECT_EQ(total(report, "softlimit_ns"), 0U);
  EXPECT_EQ(figure(report, {text("hog")}, "reclaims"), number(3));
  EXPECT_EQ(figure(report, {text("hog")}, "time_ns"), number(4500));
  EXPECT_EQ(figure(report, {text("hog")}, "direct"), number(42));
  EXPECT_EQ(figure(report, {text("hog")}, "cgroup"), number(7));
  EXPECT_EQ(of_kind(report, "direct", "count"), number(2));
  EXPECT_EQ(of_kind(report, "direct", "avg_ns"), number(2000));
  EXPECT_EQ(of_kind(report, "direct", "max_ns"), number(3000));
}

TEST(Vmscan, every_process_that_reclaims_has_its_row) {
  EventScript script("vmscan", {.by = {"pid"}});
  for (const std::uint32_t pid : {1U, 2U, 3U}) {
    script.play(by(pid, begin(0, {.kind = kMemcg})));
    script.play(by(pid, inactive_pass(64, 32)));
    script.play(by(pid, end(10, {.kind = kMemcg, .pages = 32})));
  }
  const Report report = script.finish();
  ASSERT_EQ(report.tables[0].rows.size(), 3U);
  EXPECT_EQ(figure(report, {number(2)}, "cgroup"), number(32));
  EXPECT_EQ(figure(report, {number(2)}, "scanned"), number(64));
  EXPECT_EQ(figure(report, {number(2)}, "inactive"), number(32));
}

TEST(Vmscan, reclaim_inside_of_a_reclaim_is_waited_for_once) {
  EventScript script("vmscan", {.by = {"pid"}});
  script.play({begin(0, {.kind = kDirect}),
               begin(100, {.kind = kMemcg}),
               end(300, {.kind = kMemcg, .pages = 5}),
               end(1000, {.kind = kDirect, .pages = 20})});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "time_ns"), number(1000));
  EXPECT_EQ(figure(report, {number(100)}, "reclaims"), number(2));
  EXPECT_EQ(total(report, "memcg_ns"), 200U);
}

TEST(Vmscan, shrinkers_are_named_by_their_function) {
  EventScript script("vmscan");
  constexpr std::uint64_t kFunction = 0xffffffff81000000;
  for (std::uint64_t at_ns = 0; at_ns < 3000; at_ns += 1000) {
    script.play(begin(at_ns, {.kind = kSlab, .object = 1, .function = kFunction}));
    script.play(end(at_ns + 100, {.kind = kSlab, .object = 1, .pages = 10}));
  }
  const Report report = script.finish();
  EXPECT_EQ(total(report, "slab_ns"), 300U);
  const Table& shrinkers = report.tables.at(2);
  ASSERT_EQ(shrinkers.rows.size(), 1U);
  const std::vector<Cell>& row = shrinkers.rows.front();
  EXPECT_TRUE(std::holds_alternative<LocationId>(row[0]));
  EXPECT_EQ(row[column_index(shrinkers, "count")], number(3));
  EXPECT_EQ(row[column_index(shrinkers, "time_ns")], number(300));
  EXPECT_EQ(row[column_index(shrinkers, "objects")], number(30));
}

TEST(Vmscan, shrinker_inside_of_a_shrinker_takes_no_time_of_its_own) {
  EventScript script("vmscan");
  script.play({begin(0, {.kind = kSlab, .object = 1}),
               begin(10, {.kind = kSlab, .object = 2}),
               end(20, {.kind = kSlab, .object = 2}),
               end(100, {.kind = kSlab, .object = 1})});
  EXPECT_EQ(total(script.finish(), "slab_ns"), 100U);
}

TEST(Vmscan, scanned_pages_belong_to_the_reclaim_that_scanned_them) {
  EventScript script("vmscan");
  Step write{.event = "vmscan:mm_vmscan_write_folio", .payload = ReclaimWrite{}};
  script.play({begin(0, {.kind = kMemcg}), inactive_pass(32, 30), write, end(9, {.kind = kMemcg})});
  script.play({by(9, begin(0, {.kind = kKswapd})), by(9, inactive_pass(64, 5))});
  script.play(by(7, inactive_pass(1, 1)));
  const Report report = script.finish();
  EXPECT_EQ(of_kind(report, "memcg", "scanned"), number(32));
  EXPECT_EQ(of_kind(report, "memcg", "written"), number(1));
  EXPECT_EQ(of_kind(report, "kswapd", "scanned"), number(64));
  EXPECT_EQ(of_kind(report, "other", "reclaimed"), number(1));
  EXPECT_EQ(total(report, "scanned"), 97U);
  EXPECT_EQ(total(report, "reclaimed"), 36U);
  EXPECT_EQ(total(report, "written"), 1U);
}

TEST(Vmscan, what_reclaim_did_stands_beside_what_the_kernel_counted) {
  EventScript script("vmscan");
  script.world().note_vmstat_growth(
      {{"pgscan_anon", 32}, {"pgsteal_anon", 20}, {"pgsteal_file", 10}});
  script.world().note_all_events(true);
  script.play({begin(0, {.kind = kMemcg}), inactive_pass(32, 30), end(9, {.kind = kMemcg})});
  script.play(by(7, inactive_pass(5, 5)));  // MADV_PAGEOUT
  const Report report = script.finish();
  const auto truth = truth_rows(report);
  ASSERT_EQ(truth.size(), 2U);
  EXPECT_EQ(
      truth[0],
      (std::vector<Cell>{text("scanned"), number(32), text("pgscan_anon"), number(32), 100.0}));
  EXPECT_EQ(
      truth[1],
      (std::vector<Cell>{
          text("reclaimed"), number(30), text("pgsteal_anon + pgsteal_file"), number(30), 100.0}));
}

TEST(Vmscan, kswapd_counts_in_each_interval_that_it_is_awake_in) {
  EventScript script("vmscan");
  script.play(begin(400, {.kind = kKswapd}));
  EXPECT_EQ(total(script.finish({0, 1000}), "kswapd_awake_ns"), 600U);
  EXPECT_EQ(total(script.finish({1000, 2000}), "kswapd_awake_ns"), 1000U);
  script.play(end(2300, {.kind = kKswapd}));
  const Report last = script.finish({2000, 3000});
  EXPECT_EQ(total(last, "kswapd_awake_ns"), 300U);
  EXPECT_EQ(total(last, "kswapd_wakes"), 0U);
  EXPECT_TRUE(last.tables[0].rows.empty());
}

TEST(Vmscan, requests_for_kswapd_and_throttling) {
  EventScript script("vmscan");
  script.play({{.event = "vmscan:mm_vmscan_wakeup_kswapd", .payload = KswapdRequest{}},
               {.event = "vmscan:mm_vmscan_throttled",
                .payload = ReclaimThrottle{.delayed_ns = 5000, .reason = 1}}});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "kswapd_requests"), 1U);
  EXPECT_EQ(total(report, "throttled"), 1U);
  EXPECT_EQ(total(report, "throttled_ns"), 5000U);
}

TEST(Vmscan, works_without_their_other_side_are_told) {
  EventScript script("vmscan", {.by = {"pid"}});
  script.play(end(100, {.kind = kDirect, .pages = 8}));
  script.play(by(1, begin(200, {.kind = kDirect})));
  script.play({by(2, begin(300, {.kind = kDirect})), by(2, begin(400, {.kind = kDirect}))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "direct"), number(8));
  EXPECT_EQ(figure(report, {number(100)}, "time_ns"), number(0));
  EXPECT_EQ(of_kind(report, "direct", "avg_ns"), Cell());
  EXPECT_TRUE(has_note(report, "1 began before"));
  EXPECT_TRUE(has_note(report, "2 had not ended at the end"));
  EXPECT_TRUE(has_note(report, "1 began and their end was never seen"));
  const Report next = script.finish();
  EXPECT_FALSE(has_note(next, "began before"));
  EXPECT_FALSE(has_note(next, "never seen"));
}

TEST(Vmscan, without_an_event_its_figures_are_unknown) {
  EventScript script("vmscan");
  for (const char* name : {"direct_reclaim_begin", "direct_reclaim_end", "lru_isolate"}) {
    script.type("kmem:mm_vmscan_" + std::string(name));
  }
  ASSERT_TRUE(script.check().ok());
  script.play({begin(0, {.kind = kDirect}),
               {.event = "kmem:mm_vmscan_lru_isolate",
                .payload = LruShrink{.pass = LruPass::Isolate, .scanned = 32}},
               end(10, {.kind = kDirect, .pages = 8})});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "scanned"), 32U);
  EXPECT_EQ(of_kind(report, "direct", "reclaimed"), Cell());
  EXPECT_EQ(std::ranges::count(report.totals, "slab_ns", &Total::name), 0);
  EXPECT_TRUE(has_note(report, "no mm_shrink_slab"));
  EXPECT_TRUE(has_note(report, "memory cgroups was not recorded"));
}

TEST(Vmscan, isolated_pages_are_not_counted_beside_the_pass_over_them) {
  EventScript script("vmscan");
  script.play({{.event = "vmscan:mm_vmscan_lru_isolate",
                .payload = LruShrink{.pass = LruPass::Isolate, .scanned = 32}},
               inactive_pass(32, 30)});
  EXPECT_EQ(total(script.finish(), "scanned"), 32U);
}

TEST(Vmscan, all_columns_come_on_request) {
  for (const bool all : {false, true}) {
    EventScript script("vmscan",
                       {.by = {"pid"},
                        .own = all ? std::map<std::string, std::string>{{"show", "all"}}
                                   : std::map<std::string, std::string>()});
    script.play({begin(0, {.kind = WorkKind::SoftLimitReclaim}),
                 {.event = "vmscan:mm_vmscan_lru_shrink_active",
                  .payload = LruShrink{.pass = LruPass::Active, .activated = 1, .deactivated = 2}},
                 end(10, {.kind = WorkKind::SoftLimitReclaim, .pages = 3})});
    const Report report = script.finish();
    EXPECT_EQ(std::ranges::count(report.tables[0].columns, "softlimit", &Column::name),
              all ? 1 : 0);
    if (all) {
      EXPECT_EQ(figure(report, {number(100)}, "softlimit"), number(3));
      EXPECT_EQ(figure(report, {number(100)}, "activated"), number(1));
      EXPECT_EQ(figure(report, {number(100)}, "deactivated"), number(2));
    }
  }
}

TEST(Vmscan, latencies_have_a_histogram_for_each_kind) {
  EventScript script("vmscan");
  script.play(one_reclaim(kDirect, 0, 1000, 32));
  script.play(one_reclaim(kDirect, 2000, 3000, 32));
  const Report report = script.finish();
  ASSERT_EQ(report.histograms.size(), 1U);
  EXPECT_EQ(report.histograms[0].unit, Unit::Nanoseconds);
  ASSERT_EQ(report.histograms[0].buckets.size(), 1U);
  EXPECT_EQ(report.histograms[0].buckets[0].count, 2U);
}

TEST(Vmscan, every_key_can_be_asked_of_every_event) {
  for (const std::string_view key : find_view("vmscan")->spec.keys) {
    EventScript script("vmscan", {.by = {std::string(key)}});
    script.play(begin(0, {.kind = kDirect, .node = 0, .order = 2, .gfp = 0xcc0}));
    script.play({begin(1, {.kind = kSlab}), end(2, {.kind = kSlab})});
    script.play({inactive_pass(1, 1), end(10, {.kind = kDirect})});
    EXPECT_GE(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

}  // namespace
}  // namespace memtrace::test::vmscan_view_test
