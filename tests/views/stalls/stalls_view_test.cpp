#include "support/truth_rows.h"
#include "support/work_steps.h"
#include "views/fault/fault_script.h"

namespace memtrace::test::stalls_view_test {
namespace {

constexpr WorkKind kDirect = WorkKind::DirectReclaim;
constexpr WorkKind kMemcg = WorkKind::MemcgReclaim;
constexpr std::uint64_t kHeap = 0x10000000;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint32_t kHog = 1;
constexpr std::uint32_t kWeb = 100;  // whose mappings a script has
constexpr std::uint32_t kLog = 3;

Step allocate(std::uint32_t pid, std::uint64_t page, std::uint32_t order, std::uint64_t at_ns = 0) {
  Step step = by(pid, page_alloc({.page = page, .order = order}));
  step.at_ns = at_ns;
  return step;
}

Step release(std::uint32_t pid, std::uint64_t page, std::uint32_t order, std::uint64_t at_ns) {
  Step step = by(pid, page_free(page, order));
  step.at_ns = at_ns;
  return step;
}

std::vector<Step> stall(std::uint32_t pid,
                        WorkKind kind,
                        std::uint64_t begin_ns,
                        std::uint64_t end_ns) {
  return {by(pid, begin(begin_ns, {.kind = kind})),
          by(pid, end(end_ns, {.kind = kind, .pages = 1}))};
}

std::vector<Cell> pair(std::string_view aggressor, std::string_view victim) {
  return {text(aggressor), text(victim)};
}

class StallsTest : public testing::Test {
 protected:
  static EventScript script(const ViewOptions& options = {}) {
    EventScript script("stalls", options);
    World& world = script.world();
    script.name_process(kHog, "hog");
    script.name_process(kWeb, "web");
    script.name_process(kLog, "log");
    world.identify(kHog, world.identities().intern(0, "/shop/hog"));
    world.identify(kWeb, world.identities().intern(0, "/shop/web"));
    world.identify(kLog, world.identities().intern(0, "/log"));
    script.type("kmem:mm_page_alloc");
    EXPECT_TRUE(script.check().ok());
    return script;
  }

  // As if /proc had been read when the reclaim ended.
  static void say_full(EventScript& script,
                       std::uint64_t at_ns,
                       std::uint32_t tid,
                       const char* path) {
    script.world().observations().add({.reader = "reclaim",
                                       .time_ns = at_ns,
                                       .tid = tid,
                                       .facts = {.texts = {{"full_cgroup", path}}}});
  }

  static double share(const Report& report, const std::vector<Cell>& keys) {
    return std::get<double>(figure(report, keys, "of_victim"));
  }
};

TEST_F(StallsTest, pages_stand_beside_what_the_kernel_counted) {
  EventScript played = script();
  played.type("writeback:writeback_dirty_folio");
  ASSERT_TRUE(played.check().ok());
  played.world().note_vmstat_growth({{"pgalloc_normal", 10}, {"nr_dirtied", 50'000}});
  played.world().note_all_events(true);
  played.world().note_own_events({{"kmem:mm_page_alloc", 1}});
  played.play({allocate(kHog, 0x1000, 3), allocate(kWeb, 0x3000, 0)});
  const Report report = played.finish();
  const auto truth = truth_rows(report);
  ASSERT_EQ(truth.size(), 2U);
  EXPECT_EQ(truth[0].at(0), text("allocated pages"));
  EXPECT_EQ(truth[0].at(1), number(9));
  EXPECT_EQ(truth[0].at(3), number(9));
  EXPECT_TRUE(has_note(report, "dirtied is 0, but the kernel's nr_dirtied grew by 50,000"));
}

TEST_F(StallsTest, a_stall_is_divided_by_what_each_had_allocated) {
  EventScript played = script();
  played.play({allocate(kHog, 0x1000, 3), allocate(kHog, 0x2000, 0), allocate(kWeb, 0x3000, 0)});
  played.play(stall(kWeb, kDirect, 100, 10'100));
  const Report report = played.finish();
  EXPECT_EQ(figure(report, pair("hog", "web"), "time_ns"), number(9000));
  EXPECT_EQ(figure(report, pair("web", "web"), "time_ns"), number(1000));
  EXPECT_DOUBLE_EQ(share(report, pair("hog", "web")), 90);
  EXPECT_EQ(total(report, "stalls"), 1U);
  EXPECT_EQ(total(report, "time_ns"), 10'000U);
  EXPECT_FALSE(report.inconclusive);
}

TEST_F(StallsTest, pages_that_their_owner_gave_back_cause_nothing) {
  EventScript played = script();
  played.play({allocate(kHog, 0x1000, 3),
               allocate(kHog, 0x2000, 0),
               allocate(kLog, 0x3000, 0),
               release(kHog, 0x1000, 3, 50)});
  played.play(stall(kWeb, kDirect, 100, 10'100));
  const Report report = played.finish();
  EXPECT_EQ(figure(report, pair("log", "web"), "time_ns"), number(5000));
  EXPECT_EQ(figure(report, pair("hog", "web"), "time_ns"), number(5000));
  const auto* hog = find_row(report.tables[2], {text("hog")});
  ASSERT_NE(hog, nullptr);
  EXPECT_EQ((*hog)[column_index(report.tables[2], "allocated")], number(9 * 4096));
  EXPECT_EQ((*hog)[column_index(report.tables[2], "given_back")], number(8 * 4096));
}

TEST_F(StallsTest, who_allocates_while_nobody_waits_is_no_aggressor) {
  EventScript played = script();
  played.play({allocate(kHog, 0x1000, 3), release(kHog, 0x1000, 3, 50), allocate(kLog, 0x3000, 0)});
  played.play(stall(kWeb, kDirect, 100, 10'100));
  const Report report = played.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(find_row(report.tables[2], {text("hog")}), nullptr);
  EXPECT_NE(find_row(report.tables[2], {text("log")}), nullptr);
}

TEST_F(StallsTest, pages_that_reclaim_takes_from_who_allocated_them_still_count) {
  EventScript played = script();
  played.play({allocate(kHog, 0x1000, 3),
               by(kWeb, begin(100, {.kind = kDirect})),
               release(kWeb, 0x1000, 3, 200),
               by(kWeb, end(10'100, {.kind = kDirect}))});
  EXPECT_EQ(figure(played.finish(), pair("hog", "web"), "time_ns"), number(10'000));
}

// Compaction frees the place of a page that it has moved. Who allocated the page still has it.
TEST_F(StallsTest, pages_that_compaction_moves_still_count) {
  EventScript played = script();
  played.play({allocate(kHog, 0x1000, 3),
               by(kWeb, begin(100, {.kind = WorkKind::Compaction})),
               release(kWeb, 0x1000, 3, 200),
               by(kWeb, end(10'100, {.kind = WorkKind::Compaction})),
               by(kWeb, begin(10'200, {.kind = WorkKind::Compaction})),
               by(kWeb, end(20'200, {.kind = WorkKind::Compaction}))});
  const Report report = played.finish();
  EXPECT_EQ(figure(report, pair("hog", "web"), "time_ns"), number(20'000));
  const auto* hog = find_row(report.tables[2], {text("hog")});
  ASSERT_NE(hog, nullptr);
  EXPECT_EQ((*hog)[column_index(report.tables[2], "given_back")], number(0));
}

TEST_F(StallsTest, what_was_before_the_window_does_not_count) {
  EventScript played = script({.own = {{"before", "0.1"}}});
  played.play({allocate(kHog, 0x1000, 5, 1), allocate(kLog, 0x2000, 0, kSecond)});
  played.play(stall(kWeb, kDirect, kSecond + 100, kSecond + 10'100));
  const Report report = played.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(figure(report, pair("log", "web"), "time_ns"), number(10'000));
}

TEST_F(StallsTest, a_cgroup_is_full_of_what_those_in_it_allocate) {
  EventScript played = script();
  played.play({allocate(kHog, 0x1000, 0), allocate(kWeb, 0x2000, 0), allocate(kLog, 0x3000, 9)});
  played.play(stall(kWeb, kMemcg, 100, 1100));
  Report report = played.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U) << "its own cgroup, as nothing is known of the limit";
  EXPECT_EQ(figure(report, pair("web", "web"), "time_ns"), number(1000));

  say_full(played, 3100, kWeb, "/shop");
  played.play(stall(kWeb, kMemcg, 2100, 3100));
  report = played.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 2U) << "the limit is that of the cgroup above";
  EXPECT_EQ(figure(report, pair("hog", "web"), "time_ns"), number(500));
  EXPECT_EQ(figure(report, pair("web", "web"), "time_ns"), number(500));

  played.play(stall(kWeb, kMemcg, 4100, 5100));  // /proc was not read this time
  report = played.finish();
  EXPECT_EQ(figure(report, pair("hog", "web"), "time_ns"), number(500));
}

TEST_F(StallsTest, a_cgroup_with_a_longer_name_is_another) {
  EventScript played = script();
  World& world = played.world();
  world.identify(kLog, world.identities().intern(0, "/shop/web2"));
  played.play({allocate(kLog, 0x1000, 5), allocate(kWeb, 0x2000, 0)});
  played.play(stall(kWeb, kMemcg, 100, 1100));
  EXPECT_EQ(figure(played.finish(), pair("web", "web"), "time_ns"), number(1000));
}

TEST_F(StallsTest, reclaim_inside_of_another_is_counted_once) {
  EventScript played = script();
  played.play({allocate(kHog, 0x1000, 0),
               by(kWeb, begin(100, {.kind = kDirect})),
               by(kWeb, begin(200, {.kind = kMemcg})),
               by(kWeb, end(300, {.kind = kMemcg})),
               by(kWeb, end(1100, {.kind = kDirect}))});
  const Report report = played.finish();
  EXPECT_EQ(total(report, "stalls"), 1U);
  EXPECT_EQ(figure(report, pair("hog", "web"), "time_ns"), number(1000));
}

TEST_F(StallsTest, compaction_and_kinds_as_a_key) {
  EventScript played = script({.by = {"comm", "kind"}});
  played.play(allocate(kHog, 0x1000, 0));
  played.play(stall(kWeb, WorkKind::Compaction, 100, 400));
  played.play(stall(kWeb, kDirect, 500, 600));
  const Report report = played.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 2U);
  EXPECT_EQ(figure(report, {text("hog"), text("web"), text("compaction")}, "time_ns"), number(300));
  EXPECT_EQ(figure(report, {text("hog"), text("web"), text("direct")}, "time_ns"), number(100));
}

TEST_F(StallsTest, writers_wait_for_who_made_pages_dirty) {
  EventScript played = script();
  const Step dirtied{.event = "writeback:writeback_dirty_folio", .payload = PageDirtied{}};
  for (int i = 0; i < 3; ++i) {
    played.play(by(kHog, dirtied));
  }
  played.play(
      {by(kWeb, dirtied),
       allocate(kLog, 0x1000, 9),
       by(kWeb,
          {.event = "writeback:balance_dirty_pages", .payload = DirtyBalance{.pause_ns = 4000}})});
  const Report report = played.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 2U);
  EXPECT_EQ(figure(report, pair("hog", "web"), "time_ns"), number(3000));
  EXPECT_EQ(figure(report, pair("web", "web"), "time_ns"), number(1000));
}

// The event of a folio does not say how many pages it has.
TEST_F(StallsTest, pages_of_large_folios_are_taken_from_the_event_of_the_pause) {
  EventScript played = script();
  const auto look = [](std::uint64_t pages, std::uint64_t pause_ns = 0) {
    return Step{.event = "writeback:balance_dirty_pages",
                .payload = DirtyBalance{.dirtied_pages = pages, .pause_ns = pause_ns}};
  };
  const Step folio{.event = "writeback:writeback_dirty_folio", .payload = PageDirtied{}};
  played.play({by(kHog, folio), by(kHog, folio), by(kHog, look(192))});
  played.play(by(kHog, look(192)));  // once more, after a pause
  for (int i = 0; i < 8; ++i) {
    played.play(by(kWeb, folio));
  }
  played.play(by(kWeb, look(8, 4000)));
  const Report report = played.finish();
  EXPECT_EQ(figure(report, pair("hog", "web"), "time_ns"), number(3840));
  EXPECT_EQ(figure(report, pair("web", "web"), "time_ns"), number(160));
}

// The pages left long before somebody waits for them.
TEST_F(StallsTest, swap_ins_are_caused_by_those_for_whom_pages_went_to_swap) {
  EventScript played = script({.by = {"comm", "kind"}});
  map(played, {kHeap, 0x100000, AreaKind::Heap, "[heap]"});
  played.play({allocate(kHog, 0x1000, 4), allocate(kLog, 0x2000, 9)});
  say_full(played, 1100, kHog, "/shop");
  const Step write{
      .event = "vmscan:mm_vmscan_write_folio", .payload = ReclaimWrite{}, .at_ns = 500};
  played.play({by(kHog, begin(100, {.kind = kMemcg})),
               by(kHog, end(1100, {.kind = kMemcg})),
               by(kHog, begin(1200, {.kind = kMemcg})),
               by(kHog, write),
               by(kHog, end(1300, {.kind = kMemcg}))});
  played.play(
      {by(kWeb, at(10 * kSecond, entry(kHeap))), by(kWeb, at(10 * kSecond + 700, major(kHeap)))});
  const Report report = played.finish();
  EXPECT_EQ(figure(report, {text("hog"), text("web"), text("swapin")}, "time_ns"), number(700));
  EXPECT_EQ(find_row(report.tables[0], {text("log"), text("web"), text("swapin")}), nullptr)
      << "its pages are of another cgroup";
}

TEST_F(StallsTest, reclaim_within_a_swap_in_is_taken_off_its_time) {
  EventScript played = script({.by = {"comm", "kind"}});
  map(played, {kHeap, 0x100000, AreaKind::Heap, "[heap]"});
  played.play({allocate(kHog, 0x1000, 0), by(kWeb, at(1000, entry(kHeap)))});
  played.play(stall(kWeb, kDirect, 1100, 1400));
  played.play(by(kWeb, at(2000, major(kHeap))));
  const Report report = played.finish();
  EXPECT_EQ(total(report, "time_ns"), 1000U);
  EXPECT_EQ(figure(report, {Cell(), text("web"), text("swapin")}, "time_ns"), number(700))
      << "who had its pages written to swap was not seen";
}

TEST_F(StallsTest, kswapds_work_is_beside_the_stalls) {
  EventScript played = script();
  played.name_process(50, "kswapd0");
  played.play({allocate(kHog, 0x1000, 0),
               by(50, begin(100, {.kind = WorkKind::Kswapd})),
               by(50, end(5100, {.kind = WorkKind::Kswapd}))});
  played.play(by(50, begin(6000, {.kind = WorkKind::Kswapd})));
  const Report report = played.finish({.start_ns = 0, .end_ns = 7000});
  EXPECT_TRUE(report.tables[0].rows.empty());
  EXPECT_EQ(total(report, "background_ns"), 6000U);
  EXPECT_EQ(total(report, "stalls"), 0U);
  const auto* hog = find_row(report.tables[2], {text("hog")});
  ASSERT_NE(hog, nullptr);
  EXPECT_EQ((*hog)[column_index(report.tables[2], "background_ns")], number(6000));
}

TEST_F(StallsTest, few_victims_are_a_matrix) {
  EventScript played = script();
  played.play({allocate(kHog, 0x1000, 1), allocate(kWeb, 0x2000, 1)});
  played.play(stall(kWeb, kDirect, 100, 1100));
  played.play(stall(kLog, kDirect, 2000, 2400));
  const Report report = played.finish();
  ASSERT_EQ(report.tables.size(), 4U);
  const Table& matrix = report.tables[3];
  EXPECT_TRUE(matrix.fixed);
  ASSERT_EQ(matrix.columns.size(), 3U);
  EXPECT_EQ(matrix.columns[1].name, "web");
  const auto* hog = find_row(matrix, {text("hog")});
  ASSERT_NE(hog, nullptr);
  EXPECT_EQ((*hog)[1], number(500));
  EXPECT_EQ((*hog)[2], number(200));
}

TEST_F(StallsTest, victims_say_what_they_waited_for) {
  EventScript played = script();
  played.play(allocate(kHog, 0x1000, 0));
  played.play(stall(kWeb, kDirect, 100, 400));
  played.play(stall(kWeb, kDirect, 1000, 1100));
  const Table victims = played.finish().tables[1];
  const auto* web = find_row(victims, {text("web")});
  ASSERT_NE(web, nullptr);
  EXPECT_EQ((*web)[column_index(victims, "stalls")], number(2));
  EXPECT_EQ((*web)[column_index(victims, "time_ns")], number(400));
  EXPECT_EQ((*web)[column_index(victims, "max_ns")], number(300));
  EXPECT_EQ((*web)[column_index(victims, "direct_ns")], number(400));
}

TEST_F(StallsTest, by_cgroup_both_sides_are_cgroups) {
  EventScript played = script({.by = {"comm", "cgroup"}});
  played.play(allocate(kHog, 0x1000, 0));
  played.play(stall(kWeb, kDirect, 100, 400));
  const Report report = played.finish();
  EXPECT_EQ(report.tables[0].columns[1].name, "aggressor_cgroup");
  EXPECT_EQ(report.tables[0].columns[2].name, "victim_comm");
  EXPECT_EQ(
      figure(report, {text("hog"), text("/shop/hog"), text("web"), text("/shop/web")}, "time_ns"),
      number(300));
}

TEST_F(StallsTest, an_interval_begins_with_the_window_of_the_last_one) {
  EventScript played = script();
  played.play(allocate(kHog, 0x1000, 0));
  played.play(stall(kWeb, kDirect, 100, 400));
  played.finish();
  played.play(stall(kWeb, kDirect, 1000, 1200));
  const Report report = played.finish();
  EXPECT_EQ(total(report, "stalls"), 1U);
  EXPECT_EQ(figure(report, pair("hog", "web"), "time_ns"), number(200));
}

TEST_F(StallsTest, processes_of_weeks_are_forgotten) {
  EventScript played = script({.by = {"pid"}});
  for (std::uint32_t pid = 1000; pid < 70'000; ++pid) {
    played.play(allocate(pid, pid, 0));
  }
  played.play(stall(kWeb, kDirect, 100, 400));
  EXPECT_EQ(played.finish().tables[0].rows.size(), 69'000U);
  played.play(stall(kWeb, kDirect, 1000, 1200));
  const Report report = played.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(figure(report, {Cell(), number(kWeb)}, "time_ns"), number(200));
}

TEST_F(StallsTest, without_events_of_allocations_no_stall_has_a_cause) {
  EventScript played("stalls");
  ASSERT_TRUE(played.check().ok());
  played.play(stall(kWeb, kDirect, 100, 400));
  const Report report = played.finish();
  EXPECT_TRUE(report.inconclusive);
  EXPECT_TRUE(has_note(report, "no stall has a cause"));
  EXPECT_EQ(report.tables[0].rows.at(0).at(0), Cell());
}

TEST(Stalls, options_that_make_no_sense_are_refused) {
  const ViewSpec& spec = find_view("stalls")->spec;
  EXPECT_FALSE(make_view(spec, {.own = {{"before", "soon"}}}).ok());
  EXPECT_FALSE(make_view(spec, {.own = {{"before", "0"}}}).ok());
  EXPECT_FALSE(make_view(spec, {.by = {"comm", "pid", "cgroup"}}).ok());
  EXPECT_FALSE(make_view(spec, {.by = {"stack"}}).ok());
  EXPECT_TRUE(make_view(spec, {.by = {"pid", "unit", "kind"}}).ok());
}

}  // namespace
}  // namespace memtrace::test::stalls_view_test
