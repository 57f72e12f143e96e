#include "support/event_script.h"
#include "support/fake_namer.h"

namespace memtrace::test::kleaks_view_test {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

Step leaked(std::uint64_t ptr, std::uint64_t bytes) {
  return kmalloc({.ptr = ptr, .bytes_req = bytes, .bytes_alloc = bytes});
}

TEST(KernelLeaks, shows_what_was_allocated_and_not_freed) {
  EventScript script("kleaks");
  script.play({at(0, leaked(0x10, 64)),
               at(4 * kSecondNs, leaked(0x20, 32)),
               at(5 * kSecondNs, leaked(0x30, 16)),
               kfree(0x30)});
  const Report report = script.finish({.start_ns = 0, .end_ns = 10 * kSecondNs});
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(figure(report, {stack(1)}, "count"), number(2));
  EXPECT_EQ(figure(report, {stack(1)}, "bytes"), number(96));
  EXPECT_EQ(figure(report, {stack(1)}, "avg_age_ns"), number(8 * kSecondNs));
  EXPECT_EQ(figure(report, {stack(1)}, "oldest_ns"), number(10 * kSecondNs));
  EXPECT_EQ(total(report, "count"), 2U);
  EXPECT_EQ(total(report, "bytes"), 96U);
}

TEST(KernelLeaks, tells_kmalloc_caches_and_pages_apart) {
  EventScript script("kleaks", {.by = {"kind", "cache"}});
  script.play({leaked(0x10, 64),
               cache_alloc({.ptr = 0x20, .bytes_alloc = 192, .cache = "dentry"}),
               page_alloc({.page = 0x30, .order = 1})});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("kmalloc"), text("kmalloc-64")}, "bytes"), number(64));
  EXPECT_EQ(figure(report, {text("cache"), text("dentry")}, "bytes"), number(192));
  EXPECT_EQ(figure(report, {text("page"), Cell()}, "bytes"), number(8192));
}

TEST(KernelLeaks, memory_of_each_cpu_is_outstanding_until_it_is_freed) {
  EventScript script("kleaks", {.by = {"kind", "cache"}});
  const auto allocated = [](std::uint64_t ptr) {
    return Step{
        .event = "percpu:percpu_alloc_percpu",
        .payload = SlabAlloc{.ptr = ptr, .bytes_req = 8, .bytes_alloc = 16, .cache = kPercpuCache}};
  };
  script.play({allocated(0x60a0), allocated(0x60b0)});
  script.play({{.event = "percpu:percpu_free_percpu",
                .payload = SlabFree{.ptr = 0x60a0, .cache = kPercpuCache}}});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("per cpu"), text("(per cpu)")}, "bytes"), number(16));
  EXPECT_EQ(figure(report, {text("per cpu"), text("(per cpu)")}, "count"), number(1));
}

// Flags as in include/linux/gfp_types.h: their values are not the point.
constexpr std::uint64_t kMovable = 0x8;
constexpr std::uint64_t kHighMemory = 0x2;
constexpr std::uint64_t kHighUser = 0x100000 | kHighMemory;

EventScript script_with_gfp_flags(const ViewOptions& options) {
  EventScript script("kleaks", options);
  script.add_field("kmem:mm_page_alloc", "gfp_flags").flags = {
      {kHighUser, "GFP_HIGHUSER"}, {kHighMemory, "__GFP_HIGHMEM"}, {kMovable, "__GFP_MOVABLE"}};
  script.play({page_alloc({.page = 1, .gfp = kHighUser | kMovable}),
               page_alloc({.page = 2, .order = 1, .gfp = kHighUser}),
               page_alloc({.page = 3, .gfp = kMovable}),
               page_alloc({.page = 4, .gfp = kHighMemory}),  // vmalloc
               page_alloc({.page = 5, .gfp = 0})});
  return script;
}

TEST(KernelLeaks, leaves_out_pages_of_programs_and_of_the_page_cache_and_tells_how_many) {
  EventScript script = script_with_gfp_flags({.by = {"kind"}});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("page")}, "count"), number(2));
  EXPECT_EQ(total(report, "bytes"), 8192U);
  EXPECT_TRUE(has_note(report, "16.0 KiB in pages of programs and of the page cache"));
}

TEST(KernelLeaks, lists_user_pages_as_such_when_asked) {
  EventScript script =
      script_with_gfp_flags({.by = {"kind"}, .own = {{"user-pages", "1"}, {"addresses", "1"}}});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("page")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("user or cache page")}, "count"), number(3));
  EXPECT_EQ(report.tables[1].rows.size(), 5U);
  EXPECT_FALSE(has_note(report, "left out"));
}

// Stacks 1 and 2 of a script have one function each.
void name_functions(EventScript& script, FakeNamer& namer, const char* first, const char* second) {
  const StackTable& stacks = script.world().stacks();
  namer.locations[stacks.locations(StackId{1})[0]] = {{.function = first, .kernel = true}};
  namer.locations[stacks.locations(StackId{2})[0]] = {{.function = second, .kernel = true}};
}

TEST(KernelLeaks, pages_of_slabs_come_last_and_are_not_counted_twice) {
  FakeNamer namer;
  EventScript script("kleaks", {.namer = &namer});
  name_functions(script, namer, "sk_alloc", "allocate_slab");
  Step slab_page = page_alloc({.page = 0x99});
  slab_page.stack = 2;
  script.play({leaked(0x10, 64), slab_page});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "bytes"), 64U);
  ASSERT_EQ(report.tables.size(), 2U);
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  ASSERT_EQ(report.tables[1].rows.size(), 1U);
  EXPECT_EQ(report.tables[1].rows[0][0], stack(2));
}

TEST(KernelLeaks, pages_of_slabs_are_the_leaks_where_objects_have_no_events) {
  FakeNamer namer;
  EventScript script("kleaks", {.namer = &namer});
  name_functions(script, namer, "allocate_slab", "x");
  script.play(page_alloc({.page = 0x99}));
  const Report report = script.finish();
  ASSERT_EQ(report.tables.size(), 1U);
  EXPECT_EQ(total(report, "bytes"), 4096U);
}

TEST(KernelLeaks, parts_name_what_an_origin_has_left) {
  EventScript script("kleaks");
  script.play({leaked(0x10, 64),
               leaked(0x20, 64),
               cache_alloc({.ptr = 0x30, .bytes_alloc = 192, .cache = "dentry"}),
               page_alloc({.page = 0x40})});
  const Report report = script.finish();
  const Table& table = report.tables.at(0);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0][column_index(table, "parts")], text("2 kmalloc-64, 1 dentry, 1 page"));
}

TEST(KernelLeaks, charges_the_allocating_process_and_caller) {
  EventScript script("kleaks", {.by = {"comm", "pid", "caller"}});
  script.name_process(7, "leaky");
  Step step = kmalloc({.ptr = 0x10, .bytes_alloc = 64, .call_site = 0xffffffff81000010});
  step.pid = 7;
  script.play(step);
  const LocationId caller = script.world().intern_kernel_address(0xffffffff81000010);
  EXPECT_EQ(figure(script.finish(), {text("leaky"), number(7), caller}, "count"), number(1));
}

TEST(KernelLeaks, older_leaves_out_young_blocks) {
  EventScript script("kleaks", {.own = {{"older", "5"}}});
  script.play({at(kSecondNs, leaked(0x10, 64)),
               at(5 * kSecondNs, leaked(0x20, 32)),
               at(5 * kSecondNs + 1, leaked(0x30, 16))});
  const Report report = script.finish({.start_ns = 0, .end_ns = 10 * kSecondNs});
  EXPECT_EQ(figure(report, {stack(1)}, "count"), number(2));
  EXPECT_EQ(figure(report, {stack(1)}, "bytes"), number(96));
}

TEST(KernelLeaks, bad_duration_is_a_usage_error) {
  const auto made = find_view("kleaks")->spec.make({.own = {{"older", "soon"}}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::Usage);
  EXPECT_NE(made.error().message.find("soon"), std::string::npos);
  EXPECT_FALSE(made.error().hint.empty());
}

TEST(KernelLeaks, addresses_are_listed_oldest_first) {
  EventScript script("kleaks", {.own = {{"addresses", "1"}}});
  script.name_process(7, "leaky");
  Step second = at(3 * kSecondNs, leaked(0x20, 32));
  second.pid = 7;
  script.play({second, at(kSecondNs, page_alloc({.page = 0x99}))});
  const Report report = script.finish({.start_ns = 0, .end_ns = 10 * kSecondNs});
  ASSERT_EQ(report.tables.size(), 2U);
  const Table& list = report.tables[1];
  EXPECT_TRUE(list.fixed);
  EXPECT_EQ(list.columns[0].unit, Unit::Address);
  ASSERT_EQ(list.rows.size(), 2U);
  EXPECT_EQ(list.rows[0][0], number(0x99));
  EXPECT_EQ(list.rows[1],
            (std::vector<Cell>{number(0x20),
                               text("kmalloc"),
                               text("kmalloc-32"),
                               text("leaky"),
                               number(7),
                               stack(1),
                               number(32),
                               number(7 * kSecondNs)}));
}

TEST(KernelLeaks, list_of_addresses_has_them_all) {
  EventScript script("kleaks", {.own = {{"addresses", "1"}}});
  for (std::uint64_t i = 1; i <= 1003; ++i) {
    script.play(at(i, leaked(i * 64, 64)));
  }
  const Report report = script.finish();
  EXPECT_EQ(report.tables[1].rows.size(), 1003U);
  EXPECT_EQ(report.tables[1].rows.back()[0], number(1003 * 64));
  EXPECT_EQ(report.tables[1].note, "a page's address is its page frame number");
  EXPECT_EQ(total(report, "count"), 1003U);
}

TEST(KernelLeaks, what_stays_is_shown_in_each_interval_once) {
  EventScript script("kleaks");
  script.play(leaked(0x10, 64));
  EXPECT_EQ(total(script.finish(), "count"), 1U);
  EXPECT_EQ(total(script.finish(), "count"), 1U);
  script.play(kfree(0x10));
  EXPECT_EQ(total(script.finish(), "count"), 0U);
}

TEST(KernelLeaks, cache_names_are_learnt_from_frees) {
  EventScript script("kleaks", {.by = {"cache"}});
  const Object object{.ptr = 0x10, .bytes_alloc = 192, .call_site = 0xffffffff81000010};
  Object kept = object;
  kept.ptr = 0x20;
  script.play({cache_alloc(object), cache_alloc(kept), cache_free(0x10, "dentry")});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("dentry")}, "count"), number(1));
  EXPECT_TRUE(has_note(report, "inferred"));
}

TEST(KernelLeaks, says_which_frees_were_not_recorded) {
  EventScript script("kleaks");
  script.play({leaked(0x10, 64), page_alloc({.page = 0x99}), page_free(0x99)});
  EXPECT_TRUE(has_note(script.finish(), "no frees of slab objects"));
  script.play(kfree(0x10));
  EXPECT_FALSE(has_note(script.finish(), "no frees of"));
}

TEST(KernelLeaks, tells_of_sampling) {
  EventScript script("kleaks");
  Step sampled = leaked(0x10, 64);
  sampled.weight = 10;
  script.play({sampled, kfree(0x999)});
  EXPECT_TRUE(has_note(script.finish(), "one in N"));
}

TEST(KernelLeaks, no_free_is_missed_when_nothing_was_allocated) {
  EventScript script("kleaks");
  EXPECT_TRUE(script.finish().caveats.notes.empty());
}

TEST(KernelLeaks, each_row_has_a_verdict_and_samples_have_none) {
  for (const std::uint64_t weight : {std::uint64_t{1}, std::uint64_t{10}}) {
    EventScript script("kleaks", {.by = {"stack"}});
    for (std::uint64_t i = 0; i < 800; ++i) {
      const std::uint64_t now_ns = i * kSecondNs / 100;
      Step made = at(now_ns, leaked(0x1000 + i * 0x10, 8));
      made.weight = weight;
      script.play(made);
      if (i % 10 != 0) {
        script.play(at(now_ns + 1000, kfree(0x1000 + i * 0x10)));
      }
    }
    const Report report = script.finish({.start_ns = 0, .end_ns = 8 * kSecondNs});
    EXPECT_EQ(figure(report, {stack(1)}, "verdict"), weight == 1 ? text("leak") : Cell());
    EXPECT_EQ(figure(report, {stack(1)}, "freed"), weight == 1 ? Cell(90.0) : Cell());
  }
}

TEST(KernelLeaks, pages_have_a_history_as_objects_have) {
  EventScript script("kleaks", {.by = {"comm"}});
  script.name_process(100, "worker");
  script.play(page_alloc({.page = 0x30, .order = 1}));
  script.play(page_free(0x30, 1));
  script.play(leaked(0x10, 64));
  EXPECT_EQ(figure(script.finish(), {text("worker")}, "freed"), Cell(50.0));
}

}  // namespace
}  // namespace memtrace::test::kleaks_view_test
