#include "support/truth_rows.h"
#include "support/work_steps.h"

namespace memtrace::test {
namespace {

constexpr WorkKind kCompaction = WorkKind::Compaction;
constexpr std::int32_t kSuccess = 8;

Step moved(std::uint64_t migrated, std::uint64_t put_back) {
  return {.event = "compaction:mm_compaction_migratepages",
          .payload = CompactionMoved{.migrated = migrated, .put_back = put_back}};
}

// What /proc/vmstat counts as pgmigrate_success and pgmigrate_fail.
Step migrated(std::uint64_t pages, std::uint64_t failed) {
  return {.event = "migrate:mm_migrate_pages",
          .payload =
              WorkEnd{.kind = WorkKind::Migration, .pages = pages, .failed = failed, .reason = 0}};
}

Step goal(std::int32_t order) {
  return {.event = "compaction:mm_compaction_finished",
          .payload = CompactionGoal{.node = 0, .zone = 2, .order = order}};
}

Step collapse(CollapseStep step, std::int32_t status) {
  const bool is_scan = step == CollapseStep::Scan;
  return {
      .event = is_scan ? "huge_memory:mm_khugepaged_scan_pmd" : "huge_memory:mm_collapse_huge_page",
      .payload = Collapse{.step = step, .status = status}};
}

std::vector<Step> one(std::uint64_t begin_ns, std::uint64_t end_ns) {
  return {begin(begin_ns, {.kind = kCompaction, .object = 0x1000, .sync = 1}),
          migrated(30, 1),
          moved(30, 2),
          migrated(10, 0),
          moved(10, 0),
          goal(9),
          end(end_ns, {.kind = kCompaction, .object = 0x1000, .status = kSuccess})};
}

TEST(Compaction, time_and_pages_by_process) {
  EventScript script("compaction");
  script.name_process(100, "hog");
  script.play(one(0, 1000));
  script.play(one(2000, 5000));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("hog")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("hog")}, "time_ns"), number(4000));
  EXPECT_EQ(figure(report, {text("hog")}, "max_ns"), number(3000));
  EXPECT_EQ(figure(report, {text("hog")}, "migrated"), number(80));
  EXPECT_EQ(figure(report, {text("hog")}, "failed"), number(2));
  EXPECT_EQ(figure(report, {text("hog")}, "put_back"), number(4));
  EXPECT_EQ(total(report, "migrated"), 80U);
}

TEST(Compaction, order_zone_mode_and_status_are_those_of_the_work) {
  EventScript script("compaction", {.by = {"order", "zone", "mode", "status"}});
  script.add_field("compaction:mm_compaction_end", "status").symbols = {{8, "success"}};
  script.add_field("compaction:mm_compaction_finished", "idx").symbols = {{2, "Normal"}};
  script.play(one(0, 1000));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(9), text("Normal"), text("sync"), text("success")}, "count"),
            number(1));
}

TEST(Compaction, by_hand_has_no_order) {
  EventScript script("compaction", {.by = {"order"}});
  script.play({begin(0, {.kind = kCompaction}), goal(-1), end(10, {.kind = kCompaction})});
  EXPECT_EQ(figure(script.finish(), {Cell()}, "count"), number(1));
}

TEST(Compaction, trace_lists_each_one) {
  EventScript script("compaction", {.own = {{"trace", "1"}}});
  script.play(one(100, 1000));
  const Table list = script.lines({.start_ns = 0, .end_ns = 2000});
  ASSERT_EQ(list.rows.size(), 1U);
  EXPECT_EQ(list.rows[0][column_index(list, "latency_ns")], number(900));
  EXPECT_EQ(list.rows[0][column_index(list, "migrated")], number(40));
  EXPECT_EQ(list.rows[0][column_index(list, "status")], text("8"));
}

TEST(Compaction, trace_has_the_zones_as_they_were_read) {
  EventScript script("compaction", {.own = {{"trace", "1"}}});
  script.world().observations().add({.reader = "zone",
                                     .time_ns = 1000,
                                     .tid = 100,
                                     .delay_ns = 70,
                                     .facts = {.numbers = {{"free", 4096}, {"low", 8192}},
                                               .texts = {{"fragmentation", "0.712"}}}});
  script.play(one(100, 1000));
  script.play(one(1100, 2000));
  const Table zones = script.lines();
  ASSERT_EQ(zones.rows.size(), 2U);
  EXPECT_EQ(zones.rows[0][column_index(zones, "free")], number(4096));
  EXPECT_EQ(zones.rows[0][column_index(zones, "low")], number(8192));
  EXPECT_EQ(zones.rows[0][column_index(zones, "fragmentation")], text("0.712"));
  EXPECT_EQ(zones.rows[0][column_index(zones, "read_after_ns")], number(70));
  EXPECT_EQ(zones.rows[1][column_index(zones, "free")], Cell());
}

TEST(Compaction, trace_lists_each_step_to_a_huge_page) {
  EventScript script("compaction", {.own = {{"trace", "1"}}});
  script.name_process(100, "khugepaged");
  script.play({collapse(CollapseStep::Scan, 1), collapse(CollapseStep::Collapse, 1)});
  const Table steps = script.lines();
  ASSERT_EQ(steps.rows.size(), 2U);
  EXPECT_EQ(steps.rows[0][column_index(steps, "what")], text("scan"));
  EXPECT_EQ(steps.rows[1][column_index(steps, "what")], text("collapse"));
  EXPECT_EQ(steps.rows[1][column_index(steps, "node")], Cell());
  EXPECT_EQ(steps.rows[1][column_index(steps, "latency_ns")], Cell());
  EXPECT_EQ(steps.rows[1][column_index(steps, "comm")], text("khugepaged"));
}

TEST(Compaction, splits_are_known_in_all_from_vmstat) {
  EventScript script("compaction");
  script.world().note_vmstat_growth({{"thp_split_page", 3}});
  script.play(one(100, 1000));
  const Report report = script.finish();
  EXPECT_EQ(total(report, "thp_split_page"), 3U);
  EXPECT_EQ(total(report, "thp_split_pmd"), 0U);
}

TEST(Compaction, moved_pages_and_huge_pages_stand_beside_what_the_kernel_counted) {
  EventScript script("compaction");
  script.world().note_vmstat_growth({{"pgmigrate_success", 36}, {"thp_collapse_alloc", 100}});
  script.world().note_all_events(true);
  Step of_mbind = migrated(5, 5);
  std::get<WorkEnd>(of_mbind.payload).reason = 4;
  script.play({migrated(30, 1), moved(30, 2), of_mbind, collapse(CollapseStep::Collapse, 1)});
  const Report report = script.finish();
  const auto truth = truth_rows(report);
  ASSERT_EQ(truth.size(), 2U);
  EXPECT_EQ(truth[0].at(0), text("all migrated"));
  EXPECT_EQ(truth[0].at(1), number(35));
  EXPECT_EQ(truth[0].at(3), number(36));
  EXPECT_EQ(truth[1],
            (std::vector<Cell>{
                text("collapsed"), number(1), text("thp_collapse_alloc"), number(100), 1.0}));
  EXPECT_TRUE(has_note(report, "collapsed is 1, but the kernel's thp_collapse_alloc grew by 100"));
  EXPECT_FALSE(has_note(report, "all migrated"));
}

TEST(Compaction, without_begins_and_ends_only_pages_are_known) {
  EventScript script("compaction");
  script.name_process(100, "hog");
  script.type("compaction:mm_compaction_migratepages");
  script.type("migrate:mm_migrate_pages");
  ASSERT_TRUE(script.check().ok());
  Step of_mbind = migrated(5, 5);
  std::get<WorkEnd>(of_mbind.payload).reason = 4;
  script.play({migrated(30, 1), moved(30, 2), of_mbind, migrated(1, 1), moved(1, 1)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("hog")}, "failed"), number(2));
  EXPECT_EQ(figure(report, {text("hog")}, "put_back"), number(3));
  EXPECT_EQ(figure(report, {text("hog")}, "migrated"), number(31));
  EXPECT_EQ(figure(report, {text("hog")}, "count"), Cell());
  EXPECT_EQ(figure(report, {text("hog")}, "time_ns"), Cell());
  EXPECT_TRUE(has_note(report, "number and duration of compactions are not known"));
}

// As numa has them, and /proc/vmstat.
TEST(Compaction, pages_of_one_whose_begin_was_lost_are_in_the_totals) {
  EventScript script("compaction");
  script.play(one(0, 1000));
  script.play(
      {migrated(30, 1), moved(30, 2), end(2000, {.kind = kCompaction, .status = kSuccess})});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "migrated"), 70U);
  EXPECT_EQ(total(report, "failed"), 2U);
  EXPECT_EQ(total(report, "put_back"), 4U);
  EXPECT_TRUE(has_note(report, "30 migrated pages are in no row"));
}

// What was put back is no substitute: it is more than what failed.
TEST(Compaction, without_migrations_it_is_not_known_what_could_not_be_moved) {
  EventScript script("compaction", {.own = {{"trace", "1"}}});
  script.name_process(100, "hog");
  script.type("compaction:mm_compaction_end");
  ASSERT_TRUE(script.check().ok());
  script.play(one(100, 1000));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("hog")}, "failed"), Cell());
  EXPECT_EQ(figure(report, {text("hog")}, "put_back"), number(2));
  const Table lines = script.lines();
  EXPECT_EQ(lines.rows.at(0).at(column_index(lines, "failed")), Cell());
  EXPECT_TRUE(has_note(report, "number of pages that could not be moved is not known"));
}

TEST(Compaction, huge_pages_by_step_result_and_process) {
  EventScript script("compaction");
  script.name_process(100, "khugepaged");
  script.add_field("huge_memory:mm_collapse_huge_page", "status").symbols = {
      {1, "succeeded"}, {5, "exceed_none_pte"}};
  script.play({collapse(CollapseStep::Scan, 5),
               collapse(CollapseStep::Collapse, 1),
               collapse(CollapseStep::Scan, 5),
               collapse(CollapseStep::Collapse, 5)});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "collapsed"), 1U);
  EXPECT_EQ(total(report, "not_collapsed"), 1U);
  const Table& steps = report.tables.back();
  const auto* scans = find_row(steps, {text("scan"), text("exceed_none_pte"), text("khugepaged")});
  ASSERT_NE(scans, nullptr);
  EXPECT_EQ(scans->back(), number(2));
}

TEST(Compaction, every_key_can_be_asked) {
  for (const std::string_view key : find_view("compaction")->spec.keys) {
    EventScript script("compaction", {.by = {std::string(key)}});
    script.play(one(0, 10));
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

}  // namespace
}  // namespace memtrace::test
