#include "views/kernel/slab_truth.h"

#include "support/event_script.h"

namespace memtrace::test::slab_truth_test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

Facts cache(const char* name,
            std::uint64_t object_bytes,
            std::uint64_t before,
            std::uint64_t now,
            const char* aliases = nullptr) {
  Facts facts{.numbers = {{"objsize", object_bytes},
                          {"objects_before", before},
                          {"objects", now},
                          {"pages_before", 1},
                          {"pages", 3}},
              .texts = {{"name", name}}};
  if (aliases != nullptr) {
    facts.texts["aliases"] = aliases;
  }
  return facts;
}

Observation slab_counts(std::uint64_t time_ns, std::vector<Facts> rows) {
  return {.reader = "slab_counts",
          .time_ns = time_ns,
          .facts = {.numbers = {{"nr_slab_reclaimable_before", 10},
                                {"nr_slab_reclaimable", 12},
                                {"nr_slab_unreclaimable_before", 9},
                                {"nr_slab_unreclaimable", 8}}},
          .rows = std::move(rows)};
}

EventScript truth(const char* view = "slab") {
  return EventScript(view, {.by = {"cache"}, .own = {{"truth", "1"}}});
}

Table table_of(const Report& report, std::string_view title) {
  const auto found = std::ranges::find_if(report.tables, [&](const Table& table) {
    return table.title.find(title) != std::string::npos;
  });
  EXPECT_NE(found, report.tables.end()) << title;
  return found == report.tables.end() ? Table() : *found;
}

Cell at(const Table& table, const char* key, std::string_view column) {
  const auto* row = find_row(table, {text(key)});
  EXPECT_NE(row, nullptr) << key;
  return row == nullptr ? Cell() : (*row)[column_index(table, column)];
}

Cell bytes(std::int64_t value) {
  return value;
}

std::vector<Step> dentries(std::uint64_t first, int count) {
  std::vector<Step> steps;
  for (int i = 0; i < count; ++i) {
    steps.push_back(cache_alloc({.ptr = first + static_cast<std::uint64_t>(i) * 192,
                                 .bytes_req = 192,
                                 .bytes_alloc = 192,
                                 .cache = "dentry"}));
  }
  return steps;
}

TEST(SlabTruth, what_the_trace_saw_is_compared_with_slabinfo) {
  EventScript script = truth();
  script.play(dentries(0x1000, 10));
  script.play(cache_free(0x1000, "dentry"));
  script.world().observations().add(slab_counts(kSecond, {cache("dentry", 192, 100, 110)}));
  const Report report = script.finish();
  const Table table = table_of(report, "explains, by cache");
  EXPECT_EQ(at(table, "dentry", "allocated"), number(10));
  EXPECT_EQ(at(table, "dentry", "freed"), number(1));
  EXPECT_EQ(at(table, "dentry", "net_bytes"), bytes(9 * 192));
  EXPECT_EQ(at(table, "dentry", "grown"), bytes(10 * 192));
  EXPECT_DOUBLE_EQ(std::get<double>(at(table, "dentry", "explained")), 90);
  EXPECT_EQ(at(table, "dentry", "unexplained"), bytes(192));
  EXPECT_EQ(at(table, "dentry", "slab_pages"), bytes(2 * 4096));
  const Table all = table_of(report, "of all caches");
  EXPECT_EQ(at(all, "objects in the trace", "bytes"), bytes(9 * 192));
  EXPECT_EQ(at(all, "active objects in slabinfo", "bytes"), bytes(10 * 192));
  EXPECT_EQ(at(all, "nr_slab_reclaimable", "bytes"), bytes(2 * 4096));
  EXPECT_EQ(at(all, "nr_slab_unreclaimable", "bytes"), bytes(-4096));
  EXPECT_EQ(at(all, "both in vmstat", "bytes"), bytes(4096));
}

TEST(SlabTruth, objects_from_before_the_recording_are_taken_off_where_their_cache_is_named) {
  EventScript script = truth();
  script.play({cache_free(0x9000, "dentry"), cache_free(0x9100), kfree(0x9200), kfree(0)});
  script.world().observations().add(slab_counts(kSecond, {cache("dentry", 192, 100, 99)}));
  const Report report = script.finish();
  const Table table = table_of(report, "explains, by cache");
  EXPECT_EQ(at(table, "dentry", "freed"), number(1));
  EXPECT_EQ(at(table, "dentry", "net_bytes"), bytes(-192));
  EXPECT_DOUBLE_EQ(std::get<double>(at(table, "dentry", "explained")), 100);
  EXPECT_TRUE(has_note(report, "2 objects from before the recording"));
}

TEST(SlabTruth, kinds_of_kmalloc_and_caches_of_cgroups_are_one_row) {
  EventScript script = truth();
  script.play(kmalloc({.ptr = 0x1000, .bytes_req = 1000, .bytes_alloc = 1024}));
  script.world().observations().add(slab_counts(kSecond,
                                                {cache("kmalloc-1k", 1024, 5, 6),
                                                 cache("kmalloc-cg-1k", 1024, 5, 7),
                                                 cache("dma-kmalloc-1k", 1024, 5, 4),
                                                 cache("dentry(12:web)", 192, 1, 2),
                                                 cache("dentry", 192, 1, 3)}));
  const Table table = table_of(script.finish(), "explains, by cache");
  EXPECT_EQ(at(table, "kmalloc-1024", "grown"), bytes(2 * 1024));
  EXPECT_DOUBLE_EQ(std::get<double>(at(table, "kmalloc-1024", "explained")), 50);
  EXPECT_EQ(at(table, "dentry", "grown"), bytes(3 * 192));
}

TEST(SlabTruth, caches_that_no_event_names_are_compared_by_their_size) {
  EventScript script = truth();
  script.play(cache_alloc({.bytes_req = 200, .bytes_alloc = 200, .call_site = 0x10}));
  script.world().observations().add(slab_counts(
      kSecond, {cache("one", 200, 1, 2), cache("two", 200, 1, 4), cache("x", 8, 1, 2)}));
  const Report report = script.finish();
  const Table table = table_of(report, "explains, by cache");
  EXPECT_EQ(at(table, "size-200?", "net_bytes"), bytes(200));
  EXPECT_EQ(at(table, "size-200?", "grown"), bytes(4 * 200));
  EXPECT_EQ(find_row(table, {text("one")}), nullptr);
  EXPECT_NE(find_row(table, {text("x")}), nullptr);
  EXPECT_EQ(at(table_of(report, "merged"), "size-200?", "merged_with"), text("one,two"));
}

TEST(SlabTruth, merged_caches_are_one_row) {
  EventScript script = truth();
  script.play(cache_alloc({.bytes_req = 64, .bytes_alloc = 64, .cache = "fs_cache"}));
  script.world().observations().add(
      slab_counts(kSecond, {cache("anon_vma_chain", 64, 1, 2, "eventpoll_pwq,fs_cache")}));
  const Report report = script.finish();
  const Table table = table_of(report, "explains, by cache");
  EXPECT_EQ(at(table, "anon_vma_chain", "net_bytes"), bytes(64));
  EXPECT_EQ(find_row(table, {text("fs_cache")}), nullptr);
  const Table merged = table_of(report, "merged caches");
  EXPECT_EQ(at(merged, "anon_vma_chain", "merged_with"), text("eventpoll_pwq,fs_cache"));
}

TEST(SlabTruth, each_interval_of_slab_is_compared_with_itself_and_kleaks_with_all) {
  for (const char* view : {"slab", "kleaks"}) {
    EventScript script = truth(view);
    script.play(dentries(0x1000, 4));
    script.world().observations().add(slab_counts(kSecond, {cache("dentry", 192, 100, 104)}));
    script.finish();
    script.play(dentries(0x100000, 2));
    script.world().observations().replace(
        slab_counts(2 * kSecond, {cache("dentry", 192, 104, 106)}));
    const Table table =
        table_of(script.finish({.start_ns = kSecond, .end_ns = 2 * kSecond}), "explains, by cache");
    const std::int64_t objects = view == std::string("slab") ? 2 : 6;
    EXPECT_EQ(at(table, "dentry", "net_bytes"), bytes(objects * 192)) << view;
    EXPECT_EQ(at(table, "dentry", "grown"), bytes(objects * 192)) << view;
  }
}

// A report of a file by intervals: what /proc said is of the whole file.
TEST(SlabTruth, only_the_last_interval_of_a_file_is_compared) {
  EventScript script = truth();
  script.world().observations().add(slab_counts(9 * kSecond, {cache("dentry", 192, 100, 104)}));
  script.play(dentries(0x1000, 3));
  EXPECT_EQ(script.finish({.start_ns = 0, .end_ns = kSecond}).tables.size(), 1U);
  script.play(dentries(0x100000, 1));
  const Report report = script.finish({.start_ns = kSecond, .end_ns = 9 * kSecond});
  EXPECT_DOUBLE_EQ(
      std::get<double>(at(table_of(report, "explains, by cache"), "dentry", "explained")), 100);
}

TEST(SlabTruth, what_could_not_be_read_is_a_note) {
  EventScript script = truth();
  script.play(dentries(0x1000, 1));
  EXPECT_TRUE(has_note(script.finish(), "was not read"));
  Observation unreadable = slab_counts(kSecond, {});
  unreadable.facts.texts["error"] = "/proc/slabinfo: Permission denied";
  script.world().observations().add(unreadable);
  const Report report = script.finish();
  EXPECT_TRUE(has_note(report, "Permission denied"));
  EXPECT_EQ(report.tables.back().title, "what the trace explains, of all caches");
}

TEST(SlabTruth, nobody_gets_it_who_did_not_ask) {
  EventScript script("slab", {.by = {"cache"}});
  script.play(dentries(0x1000, 1));
  script.world().observations().add(slab_counts(kSecond, {cache("dentry", 192, 100, 104)}));
  EXPECT_EQ(script.finish().tables.size(), 1U);
}

}  // namespace
}  // namespace memtrace::test::slab_truth_test
