// slab's columns beyond the usual ones, its summary, and its short names of flags.
#include "support/event_script.h"

namespace memtrace::test {
namespace {

Object object(std::uint64_t ptr, std::uint64_t bytes, std::string_view cache) {
  return {.ptr = ptr, .bytes_req = bytes, .bytes_alloc = bytes, .cache = cache};
}

ViewOptions showing(std::string columns, std::vector<std::string> by = {"cache"}) {
  return {.by = std::move(by), .own = {{"show", std::move(columns)}}};
}

Step on_cpu(Step step, std::uint32_t cpu) {
  step.cpu = cpu;
  return step;
}

TEST(SlabColumns, only_the_columns_that_are_asked_for_are_shown) {
  EventScript script("slab", showing("waste,allocs,waste"));
  script.play(kmalloc({.ptr = 0x30, .bytes_req = 48, .bytes_alloc = 64}));
  const Table table = script.finish().tables[0];
  ASSERT_EQ(table.columns.size(), 3U);
  EXPECT_EQ(table.columns[1].name, "waste");
  EXPECT_EQ(table.columns[2].name, "allocs");
  EXPECT_EQ(table.sort, "waste") << "bytes are not shown";
}

TEST(SlabColumns, column_that_there_is_not_is_a_usage_error_with_the_right_ones) {
  const auto made = find_view("slab")->spec.make(showing("bytes,colour"));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::Usage);
  EXPECT_NE(made.error().message.find("colour"), std::string::npos);
  EXPECT_NE(made.error().hint.find("max_live_waste"), std::string::npos);
}

TEST(SlabColumns, waste_is_what_rounding_up_adds) {
  EventScript script("slab", showing("all"));
  script.play({kmalloc({.ptr = 0x30, .bytes_req = 48, .bytes_alloc = 64}),
               kmalloc({.ptr = 0x40, .bytes_req = 64, .bytes_alloc = 64}),
               kfree(0x40)});
  const Report report = script.finish();
  const auto of_row = [&report](const char* column) {
    return figure(report, {text("kmalloc-64")}, column);
  };
  EXPECT_EQ(of_row("bytes_req"), number(112));
  EXPECT_EQ(of_row("avg_bytes"), number(64));
  EXPECT_EQ(of_row("waste"), number(16));
  EXPECT_EQ(of_row("waste_percent"), Cell(12.5));
  EXPECT_EQ(of_row("live_req"), number(48));
  EXPECT_EQ(of_row("live_waste"), number(16));
}

TEST(SlabColumns, free_on_another_cpu_or_node_is_counted) {
  ViewOptions options = showing("cross_cpu,cross_node");
  options.cpu_nodes = {0, 0, 1};
  EventScript script("slab", options);
  script.play({on_cpu(cache_alloc(object(0x10, 192, "dentry")), 0),
               on_cpu(cache_alloc(object(0x20, 192, "dentry")), 0),
               on_cpu(cache_alloc(object(0x30, 192, "dentry")), 0),
               on_cpu(cache_free(0x10), 0),
               on_cpu(cache_free(0x20), 1),
               on_cpu(cache_free(0x30), 2)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("dentry")}, "cross_cpu"), number(2));
  EXPECT_EQ(figure(report, {text("dentry")}, "cross_node"), number(1));
}

TEST(SlabColumns, nodes_are_blank_where_nobody_knows_them) {
  EventScript script("slab", showing("cross_node"));
  script.play({cache_alloc(object(0x10, 192, "dentry")), cache_free(0x10)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("dentry")}, "cross_node"), Cell());
  EXPECT_TRUE(has_note(report, "NUMA nodes of the CPUs"));
}

TEST(SlabColumns, maxima_are_of_what_was_live_at_one_time) {
  EventScript script("slab", showing("max_live_bytes,max_live_req,max_live_waste", {"comm"}));
  script.play({kmalloc({.ptr = 0x10, .bytes_req = 60, .bytes_alloc = 64}),
               kmalloc({.ptr = 0x20, .bytes_req = 10, .bytes_alloc = 64}),
               kfree(0x20),
               kfree(0x10),
               kmalloc({.ptr = 0x30, .bytes_req = 100, .bytes_alloc = 128}),
               kfree(0x30)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("")}, "max_live_bytes"), number(128));
  EXPECT_EQ(figure(report, {text("")}, "max_live_req"), number(100));
  EXPECT_EQ(figure(report, {text("")}, "max_live_waste"), number(58));
}

// Its free made no event: it is not live twice.
TEST(SlabColumns, maxima_know_of_addresses_that_are_given_out_again) {
  EventScript script("slab", showing("max_live_bytes", {"comm"}));
  for (int i = 0; i < 3; ++i) {
    script.play(kmalloc({.ptr = 0x10, .bytes_req = 64, .bytes_alloc = 64}));
  }
  script.play(kfree(0x999));
  EXPECT_EQ(figure(script.finish(), {text("")}, "max_live_bytes"), number(64));
}

TEST(SlabColumns, maxima_of_an_interval_begin_with_what_is_live) {
  EventScript script("slab", showing("max_live_bytes", {"comm"}));
  script.play({kmalloc({.ptr = 0x10, .bytes_req = 64, .bytes_alloc = 64}),
               kmalloc({.ptr = 0x20, .bytes_req = 64, .bytes_alloc = 64}),
               kfree(0x20)});
  EXPECT_EQ(figure(script.finish(), {text("")}, "max_live_bytes"), number(128));
  EXPECT_EQ(figure(script.finish(), {text("")}, "max_live_bytes"), number(64));
  script.play(kfree(0x10));
  script.finish();
  EXPECT_TRUE(script.finish().tables[0].rows.empty());
}

TEST(SlabColumns, each_object_can_have_a_row) {
  EventScript script("slab", {.by = {"object"}});
  script.play({kmalloc({.ptr = 0x10, .bytes_req = 64, .bytes_alloc = 64}),
               kfree(0x10),
               kmalloc({.ptr = 0x10, .bytes_req = 64, .bytes_alloc = 64}),
               kmalloc({.ptr = 0x20, .bytes_req = 64, .bytes_alloc = 64})});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(0x10)}, "allocs"), number(2));
  EXPECT_EQ(figure(report, {number(0x20)}, "live_objects"), number(1));
}

TEST(SlabColumns, summary_has_what_was_asked_for_given_freed_and_wasted) {
  ViewOptions options{.own = {{"summary", "1"}}};
  options.cpu_nodes = {0, 1};
  EventScript script("slab", options);
  Step remote = kmalloc({.ptr = 0x20, .bytes_req = 50, .bytes_alloc = 64, .node = 1});
  script.play({kmalloc({.ptr = 0x10, .bytes_req = 30, .bytes_alloc = 64, .node = -1}),
               remote,
               on_cpu(kfree(0x10), 1),
               kfree(0x999)});
  const Table summary = script.finish().tables[1];
  const auto row = [&summary](const char* what) {
    const auto* found = find_row(summary, {text(what)});
    return found == nullptr ? std::vector<Cell>(4) : *found;
  };
  EXPECT_EQ(row("requested"), (std::vector<Cell>{text("requested"), number(2), number(80), {}}));
  EXPECT_EQ(row("allocated")[2], number(128));
  EXPECT_EQ(row("wasted by rounding up")[2], number(48));
  EXPECT_EQ(row("wasted by rounding up")[3], Cell(37.5));
  EXPECT_EQ(row("freed of these")[1], number(1));
  EXPECT_EQ(row("freed of these")[2], number(64));
  EXPECT_EQ(row("not freed")[2], Cell(std::int64_t{64}));
  EXPECT_EQ(row("freed on another CPU")[3], Cell(100.0));
  EXPECT_EQ(row("freed on another node")[1], number(1));
  EXPECT_EQ(row("asked of another node")[1], number(1));
}

TEST(SlabColumns, short_names_of_gfp_flags_come_with_a_legend) {
  EventScript script("slab", {.by = {"gfp"}, .own = {{"short-gfp", "1"}}});
  Field& gfp = script.add_field("kmem:kmalloc", "gfp_flags");
  gfp.flags = {{0xcc0, "GFP_KERNEL"}, {0x100, "__GFP_ZERO"}, {0x1, "__GFP_NEW_THING"}};
  script.play({kmalloc({.ptr = 0x10, .gfp = 0xcc0 | 0x100}), kmalloc({.ptr = 0x20, .gfp = 0x1})});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("K|Z")}, "allocs"), number(1));
  EXPECT_EQ(figure(report, {text("NT")}, "allocs"), number(1));
  const Table& legend = report.tables[1];
  EXPECT_NE(find_row(legend, {text("Z"), text("__GFP_ZERO")}), nullptr);
  EXPECT_NE(find_row(legend, {text("NT"), text("__GFP_NEW_THING")}), nullptr);
}

}  // namespace
}  // namespace memtrace::test
