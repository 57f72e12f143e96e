#include "support/event_script.h"

namespace memtrace::test::slab_view_test {
namespace {

constexpr std::uint64_t kCallSite = 0xffffffff81000010;

Object object(std::uint64_t ptr, std::uint64_t bytes, std::string_view cache = "") {
  return {
      .ptr = ptr, .bytes_req = bytes, .bytes_alloc = bytes, .call_site = kCallSite, .cache = cache};
}

TEST(Slab, counts_objects_and_bytes_by_cache) {
  EventScript script("slab");
  script.play({cache_alloc(object(0x10, 192, "dentry")),
               cache_alloc(object(0x20, 192, "dentry")),
               cache_free(0x10, "dentry"),
               kmalloc({.ptr = 0x30, .bytes_req = 50, .bytes_alloc = 64})});
  const Report report = script.finish({.start_ns = 0, .end_ns = 2'000'000'000});
  EXPECT_EQ(report.tables[0].rows.size(), 2U);
  EXPECT_EQ(figure(report, {text("dentry")}, "allocs"), number(2));
  EXPECT_EQ(figure(report, {text("dentry")}, "frees"), number(1));
  EXPECT_EQ(figure(report, {text("dentry")}, "bytes"), number(384));
  EXPECT_EQ(figure(report, {text("dentry")}, "allocs_per_second"), Cell(1.0));
  EXPECT_EQ(figure(report, {text("dentry")}, "bytes_per_second"), Cell(192.0));
  EXPECT_EQ(figure(report, {text("dentry")}, "live_objects"), number(1));
  EXPECT_EQ(figure(report, {text("dentry")}, "live_bytes"), number(192));
  EXPECT_EQ(figure(report, {text("kmalloc-64")}, "live_bytes"), number(64));
  EXPECT_EQ(total(report, "allocs"), 3U);
  EXPECT_EQ(total(report, "frees"), 1U);
  EXPECT_EQ(total(report, "bytes"), 448U);
  EXPECT_EQ(total(report, "live_objects"), 2U);
  EXPECT_EQ(total(report, "live_bytes"), 256U);
}

// Events of per-CPU memory go to kleaks, and its blocks lie beside those of slab caches.
TEST(Slab, memory_of_each_cpu_is_not_live_in_a_cache) {
  EventScript script("slab");
  script.play({cache_alloc(object(0x10, 192, "dentry")),
               cache_alloc(object(0x20, 192, "dentry")),
               cache_free(0x10, "dentry"),
               {.event = "percpu:percpu_alloc_percpu",
                .payload = SlabAlloc{
                    .ptr = 0x60a0, .bytes_req = 8, .bytes_alloc = 16, .cache = kPercpuCache}}});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "live_objects"), 1U);
  EXPECT_EQ(total(report, "live_bytes"), 192U);
}

TEST(Slab, rates_of_no_time_are_unknown) {
  EventScript script("slab");
  script.play(cache_alloc(object(0x10, 192, "dentry")));
  const Report report = script.finish({.start_ns = 5, .end_ns = 5});
  EXPECT_EQ(figure(report, {text("dentry")}, "allocs_per_second"), Cell());
}

TEST(Slab, large_kmalloc_is_not_a_cache_of_its_own) {
  EventScript script("slab");
  script.play({kmalloc({.ptr = 0x10, .bytes_req = 8192, .bytes_alloc = 8192}),
               kmalloc({.ptr = 0x20, .bytes_req = 9000, .bytes_alloc = 12288}),
               kmalloc({.ptr = 0x30, .bytes_req = 70000, .bytes_alloc = 73728})});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("kmalloc-8192")}, "allocs"), number(1));
  EXPECT_EQ(figure(report, {text("kmalloc-large")}, "allocs"), number(2));
}

TEST(Slab, free_is_charged_to_the_row_that_allocated) {
  EventScript script("slab", {.by = {"pid", "stack"}});
  Step alloc = cache_alloc(object(0x10, 192, "dentry"));
  alloc.pid = 1;
  alloc.stack = 11;
  Step free = cache_free(0x10, "dentry");
  free.pid = 2;
  free.stack = 22;
  script.play({alloc, free});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(figure(report, {number(1), stack(11)}, "frees"), number(1));
  EXPECT_EQ(figure(report, {number(1), stack(11)}, "live_objects"), number(0));
}

TEST(Slab, live_objects_stay_over_intervals_and_the_flow_does_not) {
  EventScript script("slab");
  script.play({cache_alloc(object(0x10, 192, "dentry")),
               cache_alloc(object(0x20, 192, "dentry")),
               cache_free(0x20)});
  script.finish();
  const Report second = script.finish();
  EXPECT_EQ(figure(second, {text("dentry")}, "allocs"), number(0));
  EXPECT_EQ(figure(second, {text("dentry")}, "frees"), number(0));
  EXPECT_EQ(figure(second, {text("dentry")}, "live_objects"), number(1));
  script.play(cache_free(0x10));
  const Report third = script.finish();
  EXPECT_EQ(figure(third, {text("dentry")}, "frees"), number(1));
  EXPECT_EQ(figure(third, {text("dentry")}, "live_objects"), number(0));
  EXPECT_TRUE(script.finish().tables[0].rows.empty());
}

TEST(Slab, name_is_learnt_from_a_free_and_merged_with_named_allocations) {
  EventScript script("slab");
  script.play({cache_alloc(object(0x10, 192)),
               cache_alloc(object(0x20, 192)),
               cache_free(0x10, "dentry"),
               cache_alloc(object(0x30, 192, "dentry"))});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(figure(report, {text("dentry")}, "allocs"), number(3));
  EXPECT_EQ(figure(report, {text("dentry")}, "live_objects"), number(2));
  EXPECT_TRUE(has_note(report, "inferred from frees of objects of the same call site: dentry"));
}

TEST(Slab, cache_without_a_name_is_known_by_its_objects_size) {
  EventScript script("slab");
  script.play(cache_alloc(object(0x10, 192)));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("size-192?")}, "allocs"), number(1));
  EXPECT_TRUE(has_note(report, "size-N?"));
}

TEST(Slab, caches_of_kmalloc_are_called_as_the_machine_calls_them)  // RHEL 6
{
  EventScript script("slab", {.slab_caches = {{"size-64", 64}, {"size-32", 32}}});
  script.play(kmalloc({.ptr = 0x30, .bytes_req = 50, .bytes_alloc = 64}));
  EXPECT_EQ(figure(script.finish(), {text("size-64")}, "allocs"), number(1));
}

TEST(Slab, size_that_one_cache_alone_has_names_it) {
  EventScript script("slab",
                     {.slab_caches = {{"dentry", 192}, {"filp", 256}, {"skbuff_head_cache", 256}}});
  Object elsewhere = object(0x20, 192);
  elsewhere.call_site = 0xffffffff81999999;
  script.play({cache_alloc(object(0x10, 192)),
               cache_alloc(elsewhere),
               cache_alloc(object(0x30, 256)),
               cache_alloc(object(0x40, 128))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("dentry (by size)")}, "allocs"), number(2));
  EXPECT_EQ(figure(report, {text("size-256?")}, "allocs"), number(1));
  EXPECT_EQ(figure(report, {text("size-128?")}, "allocs"), number(1));
}

TEST(Slab, name_that_an_event_gives_comes_before_the_one_by_size) {
  EventScript script("slab", {.slab_caches = {{"dentry", 192}}});
  script.play({cache_alloc(object(0x10, 192)), cache_free(0x10, "mine")});
  EXPECT_EQ(figure(script.finish(), {text("mine")}, "allocs"), number(1));
}

TEST(Slab, name_is_not_inferred_where_frees_disagree) {
  EventScript script("slab");
  script.play({cache_alloc(object(0x10, 192)),
               cache_alloc(object(0x20, 192)),
               cache_free(0x10, "dentry"),
               cache_free(0x20, "filp")});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("size-192?")}, "allocs"), number(2));
  EXPECT_FALSE(has_note(report, "inferred"));
}

TEST(Slab, free_of_an_unknown_object_is_counted_and_kfree_of_null_is_not) {
  EventScript script("slab");
  script.play({kfree(0x999), kfree(0)});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "unknown_frees"), 1U);
  EXPECT_EQ(total(report, "frees"), 1U);
  EXPECT_TRUE(report.tables[0].rows.empty());
  EXPECT_EQ(total(script.finish(), "unknown_frees"), 0U);
}

TEST(Slab, without_any_free_event_nothing_is_said_of_live_objects) {
  EventScript script("slab");
  script.play(cache_alloc(object(0x10, 192, "dentry")));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("dentry")}, "live_objects"), Cell());
  EXPECT_EQ(figure(report, {text("dentry")}, "frees"), Cell());
  EXPECT_TRUE(has_note(report, "has no frees"));
}

TEST(Slab, weight_scales_the_flow_and_is_told) {
  EventScript script("slab");
  Step alloc = cache_alloc(object(0x10, 192, "dentry"));
  alloc.weight = 100;
  Step free = cache_free(0x10);
  free.weight = 100;
  script.play({alloc, free});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("dentry")}, "allocs"), number(100));
  EXPECT_EQ(figure(report, {text("dentry")}, "frees"), number(100));
  EXPECT_EQ(figure(report, {text("dentry")}, "bytes"), number(19200));
  EXPECT_TRUE(has_note(report, "one in N"));
}

TEST(Slab, every_key_can_be_asked_of_events_and_of_live_blocks) {
  for (const std::string_view key : find_view("slab")->spec.keys) {
    EventScript script("slab", {.by = {std::string(key)}});
    script.play({cache_alloc(object(0x10, 192, "dentry")), kfree(0x1)});
    const Report report = script.finish();
    EXPECT_EQ(report.tables[0].rows.size(), 1U) << key << ": the block is not in its event's row";
  }
}

TEST(Slab, handles_allocations_and_frees_of_slabs) {
  const ViewSpec& spec = find_view("slab")->spec;
  EXPECT_TRUE(handles(spec, event_named("kmem:kmem_cache_alloc_node")));
  EXPECT_TRUE(handles(spec, event_named("kmem:kfree")));
  EXPECT_TRUE(handles(spec, event_named("kmem:kmem_cache_free")));
  EXPECT_FALSE(handles(spec, event_named("kmem:mm_page_free")));
}

}  // namespace
}  // namespace memtrace::test::slab_view_test
