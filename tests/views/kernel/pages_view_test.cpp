#include "support/event_script.h"

namespace memtrace::test {
namespace {

Step failed_alloc() {
  return page_alloc({.page = ~std::uint64_t{0}, .order = 9, .failed = true});
}

TEST(Pages, bytes_are_page_size_shifted_by_the_order) {
  EventScript script("pages");
  script.play({page_alloc({.page = 0x100, .order = 0}),
               page_alloc({.page = 0x200, .order = 2}),
               page_free(0x200, 2)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "allocs"), number(2));
  EXPECT_EQ(figure(report, {stack(1)}, "frees"), number(1));
  EXPECT_EQ(figure(report, {stack(1)}, "bytes"), number(5 * 4096));
  EXPECT_EQ(figure(report, {stack(1)}, "live_pages"), number(1));
  EXPECT_EQ(figure(report, {stack(1)}, "live_bytes"), number(4096));
  EXPECT_EQ(total(report, "bytes"), 5U * 4096);
  EXPECT_EQ(total(report, "live_pages"), 1U);
}

TEST(Pages, page_size_is_the_recorded_machines) {
  EventScript script("pages", {.page_size_bytes = 65536});
  script.play({page_alloc({.page = 0x100, .order = 1}), page_free(0x1)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "bytes"), number(131072));
  EXPECT_EQ(figure(report, {stack(1)}, "live_pages"), number(2));
}

TEST(Pages, failed_allocation_takes_no_pages) {
  EventScript script("pages");
  script.play({failed_alloc(), page_alloc({.page = 0x100})});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "failures"), number(1));
  EXPECT_EQ(figure(report, {stack(1)}, "allocs"), number(1));
  EXPECT_EQ(figure(report, {stack(1)}, "bytes"), number(4096));
  EXPECT_EQ(total(report, "failures"), 1U);
}

TEST(Pages, free_is_charged_to_the_row_that_allocated) {
  EventScript script("pages", {.by = {"pid"}});
  Step alloc = page_alloc({.page = 0x100});
  alloc.pid = 1;
  Step free = page_free(0x100);
  free.pid = 2;
  script.play({alloc, free});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(figure(report, {number(1)}, "frees"), number(1));
}

TEST(Pages, free_of_unknown_pages_is_counted_apart) {
  EventScript script("pages");
  script.play({page_alloc({.page = 0x100}), page_free(0x999), page_free(0x100)});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "frees"), 2U);
  EXPECT_EQ(total(report, "unknown_frees"), 1U);
  EXPECT_EQ(figure(report, {stack(1)}, "frees"), number(1));
}

TEST(Pages, block_that_is_freed_in_parts_stays_live_in_part) {
  EventScript script("pages");
  script.play({page_alloc({.page = 0x100, .order = 2}), page_free(0x102)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "frees"), number(1));
  EXPECT_EQ(figure(report, {stack(1)}, "live_pages"), number(3));
  EXPECT_EQ(figure(report, {stack(1)}, "live_bytes"), number(3 * 4096));
}

TEST(Pages, live_pages_stay_over_intervals) {
  EventScript script("pages");
  script.play({page_alloc({.page = 0x100, .order = 1}), page_free(0x999)});
  script.finish();
  const Report second = script.finish();
  EXPECT_EQ(figure(second, {stack(1)}, "allocs"), number(0));
  EXPECT_EQ(figure(second, {stack(1)}, "live_pages"), number(2));
  EXPECT_EQ(total(second, "frees"), 0U);
  EXPECT_TRUE(second.tables[1].rows.empty());
}

TEST(Pages, matrix_counts_by_order_and_named_migrate_type) {
  EventScript script("pages", {.migratetypes = {"Unmovable", "Movable"}});
  Step weighted = page_alloc({.page = 0x400, .order = 2, .migratetype = 2});
  weighted.weight = 7;
  script.play({page_alloc({.page = 0x100, .order = 0, .migratetype = 1}),
               page_alloc({.page = 0x101, .order = 0, .migratetype = 1}),
               weighted,
               failed_alloc()});
  const Table matrix = script.finish().tables[1];
  EXPECT_TRUE(matrix.fixed);
  EXPECT_EQ(matrix.key_count, 1U);
  ASSERT_EQ(matrix.columns.size(), 4U);
  EXPECT_EQ(matrix.columns[2].name, "Movable");
  EXPECT_EQ(matrix.columns[3].name, "type_2");
  ASSERT_EQ(matrix.rows.size(), 3U);
  EXPECT_EQ(matrix.rows[0], (std::vector<Cell>{number(0), number(0), number(2), number(0)}));
  EXPECT_EQ(matrix.rows[1], (std::vector<Cell>{number(1), number(0), number(0), number(0)}));
  EXPECT_EQ(matrix.rows[2], (std::vector<Cell>{number(2), number(0), number(0), number(7)}));
}

TEST(Pages, nonsense_order_and_type_do_no_harm) {
  EventScript script("pages", {.by = {"order", "migratetype"}});
  script.play(page_alloc({.page = 0x100, .order = 15, .migratetype = -3}));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(15), text("-3")}, "allocs"), number(1));
  EXPECT_TRUE(report.tables[1].rows.empty());
}

TEST(Pages, migrate_types_are_named_when_names_are_known) {
  EventScript script("pages", {.by = {"migratetype"}, .migratetypes = {"Unmovable"}});
  script.play({page_alloc({.page = 0x100, .migratetype = 0}),
               page_alloc({.page = 0x101, .migratetype = 1})});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("Unmovable")}, "allocs"), number(1));
  EXPECT_EQ(figure(report, {text("1")}, "allocs"), number(1));
}

TEST(Pages, every_key_can_be_asked_of_events_and_of_live_blocks) {
  for (const std::string_view key : find_view("pages")->spec.keys) {
    EventScript script("pages", {.by = {std::string(key)}});
    script.play({page_alloc({.page = 0x100, .order = 1, .gfp = 0xcc0, .migratetype = 1}),
                 page_free(0x999)});
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

// Step::stack N is the one frame kFirst + N - 1; here two frames, an allocator's and its caller's.
TEST(Pages, caller_is_the_first_frame_that_is_not_the_allocators) {
  LocationId allocator;
  ViewOptions options{.by = {"caller"}};
  options.is_page_allocator = [&allocator](LocationId frame) { return frame == allocator; };
  EventScript script("pages", options);
  const std::array<std::uint64_t, 2> chain = {0xffffffff82000000, 0xffffffff82000100};
  const StackId both = script.world().intern_stack(0, chain);
  const auto frames = script.world().stacks().locations(both);
  allocator = frames[0];
  Step alloc = page_alloc({.page = 0x100});
  alloc.stack = both.value;
  script.play({alloc, page_alloc({.page = 0x200}), page_free(0x100)});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 2U);
  EXPECT_EQ(figure(report, {Cell(frames[1])}, "frees"), number(1));
}

TEST(Pages, caller_of_stacks_that_are_the_allocators_alone_is_the_outermost) {
  ViewOptions options{.by = {"caller"}};
  options.is_page_allocator = [](LocationId) { return true; };
  EventScript script("pages", options);
  const std::array<std::uint64_t, 2> chain = {0xffffffff82000000, 0xffffffff82000100};
  const StackId both = script.world().intern_stack(0, chain);
  Step alloc = page_alloc({.page = 0x100});
  alloc.stack = both.value;
  Step without = page_alloc({.page = 0x200});
  without.stack = 0;
  script.play({alloc, without});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {Cell(script.world().stacks().locations(both)[1])}, "allocs"),
            number(1));
  EXPECT_EQ(figure(report, {Cell()}, "allocs"), number(1));
}

TEST(Pages, summary_tells_what_was_freed_and_what_failed) {
  EventScript script("pages", {.own = {{"summary", "1"}}});
  script.play({page_alloc({.page = 0x100}),
               page_alloc({.page = 0x200, .order = 1}),
               page_free(0x200, 1),
               page_free(0x900, 2),
               failed_alloc()});
  const Table summary = script.finish().tables[1];
  const auto row = [&summary](const char* what) {
    const auto* found = find_row(summary, {text(what)});
    return found == nullptr ? std::vector<Cell>(4) : *found;
  };
  EXPECT_EQ(row("allocated")[1], number(2));
  EXPECT_EQ(row("allocated")[2], number(3 * 4096));
  EXPECT_EQ(row("freed")[1], number(2));
  EXPECT_EQ(row("freed")[2], number(6 * 4096));
  EXPECT_EQ(row("allocated and freed")[1], number(1));
  EXPECT_EQ(row("allocated and freed")[2], number(2 * 4096));
  EXPECT_EQ(row("allocated only")[2], Cell(std::int64_t{4096}));
  EXPECT_EQ(row("freed only")[2], number(4 * 4096));
  EXPECT_EQ(row("failed")[1], number(1));
  EXPECT_EQ(row("failed")[2], number(512 * 4096));
}

TEST(Pages, most_live_bytes_and_frees_on_other_cpus) {
  EventScript script("pages",
                     {.by = {"comm"}, .own = {{"show", "max_live_bytes,cross_cpu,freed_bytes"}}});
  Step elsewhere = page_free(0x200, 1);
  elsewhere.cpu = 3;
  script.play({page_alloc({.page = 0x100}),
               page_alloc({.page = 0x200, .order = 1}),
               elsewhere,
               page_free(0x100),
               page_alloc({.page = 0x300})});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("")}, "max_live_bytes"), number(3 * 4096));
  EXPECT_EQ(figure(report, {text("")}, "cross_cpu"), number(1));
  EXPECT_EQ(figure(report, {text("")}, "freed_bytes"), number(3 * 4096));
}

TEST(Pages, each_page_can_have_a_row) {
  EventScript script("pages", {.by = {"page"}});
  script.play({page_alloc({.page = 0x100}), page_free(0x100), page_alloc({.page = 0x100})});
  EXPECT_EQ(figure(script.finish(), {number(0x100)}, "allocs"), number(2));
}

TEST(Pages, without_any_free_event_nothing_is_said_of_live_pages) {
  EventScript script("pages");
  script.play(page_alloc({.page = 0x100}));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "live_pages"), Cell());
  EXPECT_TRUE(has_note(report, "has no frees"));
}

TEST(Pages, weight_scales_counts_bytes_and_failures) {
  EventScript script("pages");
  Step alloc = page_alloc({.page = 0x100});
  alloc.weight = 3;
  Step failed = failed_alloc();
  failed.weight = 5;
  script.play({alloc, failed});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "allocs"), number(3));
  EXPECT_EQ(figure(report, {stack(1)}, "bytes"), number(3 * 4096));
  EXPECT_EQ(figure(report, {stack(1)}, "failures"), number(5));
  EXPECT_TRUE(has_note(report, "one in N"));
}

}  // namespace
}  // namespace memtrace::test
