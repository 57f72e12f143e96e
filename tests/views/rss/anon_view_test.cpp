#include "views/fault/fault_script.h"

namespace memtrace::test::anon_view_test {
namespace {

constexpr std::uint64_t kHeap = 0x10000000;
constexpr std::uint64_t kFile = 0x20000000;
constexpr std::uint32_t kMm = 0xaaaa;

Step rss(std::uint32_t mm_id,
         bool is_of_task,
         std::uint64_t pages,
         RssMember member = RssMember::Anonymous) {
  return {.event = "kmem:rss_stat",
          .payload = RssStat{
              .mm_id = mm_id, .is_of_task = is_of_task, .member = member, .bytes = pages * 4096}};
}

void prepare(EventScript& script) {
  map(script, {kHeap, 0x100000, AreaKind::Heap, "[heap]"});
  map(script, {kFile, 0x100000, AreaKind::File, "/data"});
  for (const char* event : {"kmem:rss_stat", "kmem:mm_page_alloc", "kmem:mm_page_free"}) {
    script.type(event);
  }
  EXPECT_TRUE(script.check().ok());
}

TEST(Anonymous, faults_are_new_pages_swap_ins_and_copies_of_a_process) {
  EventScript script("anon");
  prepare(script);
  script.name_process(100, "puppet");
  script.play({entry(kHeap),
               minor(kHeap),
               entry(kHeap, kWriteProtected),
               minor(kHeap),
               entry(kFile, kWrite),  // a private copy of a file's page
               minor(kFile),
               entry(kHeap + 0x1000, kRead),
               major(kHeap + 0x1000),
               entry(kFile + 0x1000, kRead),
               minor(kFile + 0x1000),
               entry(kHeap + 0x2000)});
  const Report report = script.finish();
  const std::vector<Cell> row = {text("puppet"), number(100)};
  EXPECT_EQ(figure(report, row, "fault"), number(1));
  EXPECT_EQ(figure(report, row, "cow"), number(2));
  EXPECT_EQ(figure(report, row, "pgin"), number(1));
}

TEST(Anonymous, allocations_and_frees_are_in_pages_of_whoever_ran) {
  EventScript script("anon", {.by = {"pid"}});
  prepare(script);
  script.play({page_alloc(0),
               page_alloc(3),
               page_alloc(0, 0, true),
               by_process(200, {.event = "kmem:mm_page_free", .payload = PageFree{.order = 2}})});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "alloc"), number(9));
  EXPECT_EQ(figure(report, {number(200)}, "free"), number(4));
}

TEST(Anonymous, what_a_process_gives_back_is_told_from_what_others_take) {
  EventScript script("anon", {.by = {"pid"}});
  prepare(script);
  script.play({rss(kMm, true, 10),
               rss(kMm, true, 30),
               rss(kMm, true, 25),                  // it gives back 5
               by_process(2, rss(kMm, false, 18)),  // kswapd takes 7
               rss(kMm, true, 20),
               rss(kMm, false, 0)});  // its end: its own all the same
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "ufree"), number(25));
  EXPECT_EQ(figure(report, {number(100)}, "unmap"), number(7));
}

TEST(Anonymous, pages_that_a_process_swaps_out_itself_are_not_given_back) {
  EventScript script("anon", {.by = {"pid"}});
  prepare(script);
  script.play({rss(kMm, true, 10),
               rss(kMm, true, 0, RssMember::Swap),
               rss(kMm, true, 9),
               rss(kMm, true, 1, RssMember::Swap),  // its own reclaim: one page
               rss(kMm, true, 7),                   // it gives back two
               by_process(2, rss(kMm, false, 6)),
               by_process(2, rss(kMm, false, 2, RssMember::Swap))});  // kswapd
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "ufree"), number(2));
  EXPECT_EQ(figure(report, {number(100)}, "unmap"), number(2));
}

TEST(Anonymous, members_and_address_spaces_are_apart) {
  EventScript script("anon", {.by = {"pid"}});
  prepare(script);
  script.play({rss(kMm, true, 10),
               rss(kMm, true, 90, RssMember::File),
               rss(kMm, true, 9),
               rss(kMm, true, 1, RssMember::File),
               by_process(200, rss(kMm + 1, true, 50)),
               by_process(200, rss(kMm + 1, true, 48))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "ufree"), number(1));
  EXPECT_EQ(figure(report, {number(200)}, "ufree"), number(2));
}

TEST(Anonymous, space_of_nobody_known_and_first_sight_count_for_nothing) {
  EventScript script("anon", {.by = {"pid"}});
  prepare(script);
  script.play({rss(kMm, false, 10), rss(kMm, false, 5), rss(kMm, true, 5), rss(kMm, true, 4)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "ufree"), number(1));
  EXPECT_EQ(figure(report, {number(100)}, "unmap"), number(0));
}

TEST(Anonymous, pages_are_told_one_by_one_where_there_is_no_sum_of_them)  // RHEL 6
{
  EventScript script("anon", {.by = {"pid"}});
  for (const char* event : {"kmem:mm_anon_userfree", "kmem:mm_anon_cow", "kmem:mm_filemap_cow"}) {
    script.type(event);
  }
  ASSERT_TRUE(script.check().ok());
  script.play({page(ResidentChange::GivenBack, RssMember::Anonymous),
               page(ResidentChange::GivenBack, RssMember::Anonymous),
               page(ResidentChange::GivenBack, RssMember::File),
               page(ResidentChange::Copied, RssMember::Anonymous),
               page(ResidentChange::Copied, RssMember::File),
               software(kHeap),
               minor(kHeap)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "ufree"), number(2));
  EXPECT_EQ(figure(report, {number(100)}, "cow"), number(2));
  EXPECT_EQ(figure(report, {number(100)}, "unmap"), Cell());
  EXPECT_TRUE(has_note(report, "kmem:mm_anon_unmap reports only"));
  EXPECT_TRUE(has_note(report, "no event for other copies"));
}

TEST(Anonymous, pages_told_one_by_one_do_not_count_beside_sums_and_error_codes) {
  EventScript script("anon", {.by = {"pid"}});
  prepare(script);
  script.type("kmem:mm_anon_userfree");
  script.type("kmem:mm_anon_cow");
  ASSERT_TRUE(script.check().ok());
  script.play({entry(kHeap, kWriteProtected),
               minor(kHeap),
               page(ResidentChange::Copied, RssMember::Anonymous),
               rss(kMm, true, 10),
               page(ResidentChange::GivenBack, RssMember::Anonymous),
               rss(kMm, true, 9)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "ufree"), number(1));
  EXPECT_EQ(figure(report, {number(100)}, "cow"), number(1));
}

TEST(Anonymous, columns_whose_events_are_missing_are_blank_and_said) {
  EventScript script("anon", {.by = {"pid"}});
  script.play({software(kHeap), minor(kHeap), page_alloc(0)});
  const Report report = script.finish();
  for (const char* column : {"free", "fault", "ufree", "pgin", "cow", "unmap"}) {
    EXPECT_EQ(figure(report, {number(100)}, column), Cell()) << column;
  }
  EXPECT_EQ(figure(report, {number(100)}, "alloc"), number(1));
  EXPECT_TRUE(has_note(report, "kmem:rss_stat"));
  EXPECT_TRUE(has_note(report, "cow is not known"));
  EXPECT_TRUE(report.inconclusive);
}

TEST(Anonymous, every_key_makes_a_row) {
  for (const std::string_view key : find_view("anon")->spec.keys) {
    EventScript script("anon", {.by = {std::string(key)}});
    script.play({entry(kHeap), minor(kHeap)});
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

TEST(Anonymous, sizes_at_the_end_are_those_of_its_processes) {
  EventScript script("anon");
  const auto process = [](std::uint64_t pid) {
    return Facts{.numbers = {{"pid", pid}, {"size", 65536}, {"resident", 8192}, {"data", 4096}},
                 .texts = {{"comm", "database"}}};
  };
  script.world().observations().add(
      {.reader = "sizes", .time_ns = 9, .rows = {process(100), process(101)}});
  script.play({entry(0x1000), minor(0x1000)});
  const Report report = script.finish();
  ASSERT_EQ(report.tables.size(), 2U);
  const Table& sizes = report.tables[1];
  ASSERT_EQ(sizes.rows.size(), 1U);
  EXPECT_EQ(sizes.rows[0][column_index(sizes, "pid")], number(100));
  EXPECT_EQ(sizes.rows[0][column_index(sizes, "resident")], number(8192));
  EXPECT_EQ(sizes.rows[0][column_index(sizes, "data")], number(4096));
  EXPECT_EQ(sizes.rows[0][column_index(sizes, "text")], Cell());
  EXPECT_EQ(sizes.note, "");
  EXPECT_EQ(script.finish().tables.size(), 1U);
}

// A zombie's statm is all zeros.
TEST(Anonymous, what_has_ended_has_no_size_and_is_counted) {
  EventScript script("anon");
  script.world().observations().add(
      {.reader = "sizes",
       .time_ns = 9,
       .rows = {Facts{.numbers = {{"pid", 100}, {"size", 0}, {"resident", 0}}, .texts = {}}}});
  script.play({entry(0x1000), minor(0x1000)});
  const Report report = script.finish();
  ASSERT_EQ(report.tables.size(), 2U);
  EXPECT_TRUE(report.tables[1].rows.empty());
  EXPECT_EQ(report.tables[1].note, "ended, or without memory of their own: 1 process");
}

}  // namespace
}  // namespace memtrace::test::anon_view_test
