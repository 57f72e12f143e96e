#include "support/event_script.h"

namespace memtrace::test {
namespace {

Step asked(std::uint64_t bytes_req, std::uint64_t bytes_alloc) {
  return kmalloc({.ptr = 0x1000, .bytes_req = bytes_req, .bytes_alloc = bytes_alloc});
}

TEST(Kmalloc, adds_up_count_bytes_and_waste_by_stack) {
  EventScript script("kmalloc");
  Step other = asked(64, 64);
  other.stack = 2;
  script.play({asked(100, 128), asked(10, 16), other});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 2U);
  EXPECT_EQ(figure(report, {stack(1)}, "count"), number(2));
  EXPECT_EQ(figure(report, {stack(1)}, "bytes_req"), number(110));
  EXPECT_EQ(figure(report, {stack(1)}, "bytes_alloc"), number(144));
  EXPECT_EQ(figure(report, {stack(1)}, "waste"), number(34));
  EXPECT_EQ(figure(report, {stack(2)}, "waste"), number(0));
  EXPECT_EQ(figure(report, {stack(2)}, "waste_percent"), Cell(0.0));
  EXPECT_EQ(total(report, "count"), 3U);
  EXPECT_EQ(total(report, "bytes_req"), 174U);
  EXPECT_EQ(total(report, "bytes_alloc"), 208U);
  EXPECT_EQ(total(report, "waste"), 34U);
}

TEST(Kmalloc, table_says_how_to_sort_and_fold_it) {
  EventScript script("kmalloc");
  const Report report = script.finish();
  EXPECT_EQ(report.view, "kmalloc");
  EXPECT_EQ(report.tables[0].key_count, 1U);
  EXPECT_EQ(report.tables[0].sort, "bytes_alloc");
  EXPECT_EQ(report.tables[0].weight, "bytes_alloc");
  EXPECT_EQ(report.tables[0].title, "by stack");
  EXPECT_EQ(report.tables[0].columns[0].unit, Unit::Stack);
}

TEST(Kmalloc, sampled_event_stands_for_its_weight) {
  EventScript script("kmalloc");
  Step step = asked(100, 128);
  step.weight = 10;
  script.play(step);
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "count"), number(10));
  EXPECT_EQ(figure(report, {stack(1)}, "bytes_alloc"), number(1280));
}

TEST(Kmalloc, sizes_are_distributed_in_each_row_if_asked) {
  EventScript script("kmalloc", {.by = {"comm"}, .own = {{"hist", "1"}}});
  script.name_process(100, "bash");
  script.play({asked(10, 16), asked(30, 32), asked(31, 32)});
  const auto histograms = script.finish().tables[0].histograms;
  ASSERT_EQ(histograms.size(), 1U);
  EXPECT_EQ(histograms[0].keys, (std::vector<Cell>{text("bash")}));
  ASSERT_EQ(histograms[0].histogram.buckets.size(), 2U);
  EXPECT_EQ(histograms[0].histogram.buckets[1].low, 16U);
  EXPECT_EQ(histograms[0].histogram.buckets[1].count, 2U);
}

TEST(Kmalloc, histograms_of_short_flags_belong_to_their_rows) {
  EventScript script("kmalloc", {.by = {"gfp"}, .own = {{"hist", "1"}, {"short-gfp", "1"}}});
  script.play(asked(10, 16));
  const Report report = script.finish();
  ASSERT_EQ(report.tables[0].histograms.size(), 1U);
  EXPECT_EQ(report.tables[0].histograms[0].keys[0], report.tables[0].rows[0][0]);
}

TEST(Kmalloc, objects_of_named_caches_and_frees_are_not_counted) {
  EventScript script("kmalloc");
  script.play({cache_alloc({.ptr = 0x2000, .bytes_req = 8, .bytes_alloc = 8}), kfree(0x2000)});
  EXPECT_EQ(total(script.finish(), "count"), 0U);
}

TEST(Kmalloc, every_key_has_its_cell) {
  EventScript script("kmalloc", {.by = {"comm", "pid", "tid", "size", "node", "cpu"}});
  script.name_process(7, "bash");
  Step step = kmalloc({.bytes_req = 100, .bytes_alloc = 128, .node = -1});
  step.pid = 7;
  step.cpu = 3;
  script.play(step);
  const Report report = script.finish();
  EXPECT_EQ(figure(report,
                   {text("bash"), number(7), number(7), number(100), std::int64_t{-1}, number(3)},
                   "count"),
            number(1));
  // Exact, so that no two rows of different sizes look the same.
  EXPECT_EQ(report.tables[0].columns[3].unit, Unit::Number);
}

TEST(Kmalloc, caller_is_a_location_and_unknown_without_one) {
  EventScript script("kmalloc", {.by = {"caller"}});
  script.play({kmalloc({.bytes_req = 1, .bytes_alloc = 8, .call_site = 0xffffffff81000010}),
               kmalloc({.bytes_req = 1, .bytes_alloc = 8})});
  const Report report = script.finish();
  const LocationId caller = script.world().intern_kernel_address(0xffffffff81000010);
  EXPECT_EQ(figure(report, {Cell(caller)}, "count"), number(1));
  EXPECT_EQ(figure(report, {Cell()}, "count"), number(1));
}

TEST(Kmalloc, gfp_flags_are_named_by_the_events_own_format) {
  EventScript script("kmalloc", {.by = {"gfp"}});
  script.add_field("kmem:kmalloc", "gfp_flags").flags = {{0xcc0, "GFP_KERNEL"},
                                                         {0x100, "__GFP_ZERO"}};
  script.play(kmalloc({.bytes_req = 1, .bytes_alloc = 8, .gfp = 0xdc0}));
  EXPECT_EQ(figure(script.finish(), {text("GFP_KERNEL|__GFP_ZERO")}, "count"), number(1));
}

TEST(Kmalloc, gfp_flags_without_names_are_hexadecimal) {
  EventScript script("kmalloc", {.by = {"gfp"}});
  script.play(kmalloc({.bytes_req = 1, .bytes_alloc = 8, .gfp = 0xdc0}));
  EXPECT_EQ(figure(script.finish(), {text("0xdc0")}, "count"), number(1));
}

TEST(Kmalloc, finish_starts_a_new_interval) {
  EventScript script("kmalloc");
  script.play(asked(100, 128));
  EXPECT_EQ(total(script.finish(), "count"), 1U);
  const Report second = script.finish();
  EXPECT_EQ(total(second, "count"), 0U);
  EXPECT_TRUE(second.tables[0].rows.empty());
  script.play(asked(100, 128));
  EXPECT_EQ(total(script.finish(), "count"), 1U);
}

TEST(Kmalloc, key_that_was_said_twice_is_one_column) {
  EventScript script("kmalloc", {.by = {"pid", "pid"}});
  EXPECT_EQ(script.finish().tables[0].key_count, 1U);
}

TEST(Kmalloc, unknown_key_is_a_usage_error_that_names_the_nearest) {
  const auto made = find_view("kmalloc")->spec.make({.by = {"stak"}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::Usage);
  EXPECT_NE(made.error().message.find("stak"), std::string::npos);
  EXPECT_EQ(made.error().hint, "did you mean stack?");
}

TEST(Kmalloc, key_like_no_other_is_answered_with_all_keys) {
  const auto made = find_view("kmalloc")->spec.make({.by = {"xyzzyxyzzy"}});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().hint.find("stack, caller, comm"), std::string::npos);
}

TEST(Kmalloc, trace_has_a_line_for_each_allocation) {
  EventScript script("kmalloc", {.by = {"stack"}, .own = {{"trace", "1"}}});
  script.name_process(7, "tcpd");
  Step step =
      kmalloc({.ptr = 0x10, .bytes_req = 60, .bytes_alloc = 64, .call_site = 0xffffffff81000010});
  step.pid = step.tid = 7;
  script.play({step, kfree(0x10), step});
  const Table lines = script.lines();
  ASSERT_EQ(lines.rows.size(), 2U);
  const auto at = [&lines](std::string_view column) {
    return lines.rows[0][column_index(lines, column)];
  };
  EXPECT_EQ(at("comm"), text("tcpd"));
  EXPECT_EQ(at("tid"), number(7));
  EXPECT_EQ(at("bytes_req"), number(60));
  EXPECT_EQ(at("bytes_alloc"), number(64));
  EXPECT_EQ(at("ptr"), number(0x10));
  EXPECT_EQ(at("caller"), Cell(script.world().intern_kernel_address(0xffffffff81000010)));
  EXPECT_EQ(at("stack"), stack(1));
  EXPECT_TRUE(script.lines().rows.empty());
}

TEST(Kmalloc, more_keys_than_a_row_can_have_are_refused) {
  const auto made = find_view("kmalloc")->spec.make(
      {.by = {"stack", "caller", "comm", "pid", "tid", "size", "gfp"}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::Usage);
}

TEST(Kmalloc, handles_both_forms_of_its_event_and_no_other) {
  const ViewSpec& spec = find_view("kmalloc")->spec;
  EXPECT_TRUE(handles(spec, event_named("kmem:kmalloc")));
  EXPECT_TRUE(handles(spec, event_named("kmem:kmalloc_node")));
  EXPECT_FALSE(handles(spec, event_named("kmem:kmem_cache_alloc")));
  EXPECT_FALSE(handles(spec, event_named("")));
}

}  // namespace
}  // namespace memtrace::test
