// --hist: each row of each view that has a size or a latency is distributed, if asked.
#include "support/call_script.h"
#include "support/work_steps.h"
#include "views/fault/fault_script.h"

namespace memtrace::test::row_histograms_test {
namespace {

constexpr std::uint64_t kHeap = 0x10000000;
constexpr std::uint64_t kHuge = 0x20000000;
constexpr std::uint64_t kFile = 0x30000000;

// What one view makes of some events: of one process, whose row all of them are in.
struct Case {
  const char* view;
  std::vector<Step> steps;
  std::uint64_t low = 0;  // of the bucket that the last of the values is in
  std::uint64_t count = 1;
};

EventScript script_of(const Case& one, const ViewOptions& options) {
  EventScript script(one.view, options);
  map(script, {kHeap, 0x100000, AreaKind::Heap, "[heap]"});
  map(script, {kHuge, 0x1000000, AreaKind::HugePages, "/anon_hugepage (deleted)"});
  map(script, {kFile, 0x100000, AreaKind::File, "/data"});
  for (const Step& step : one.steps) {
    script.type(step.event);
  }
  EXPECT_TRUE(script.check().ok());
  script.play(one.steps);
  return script;
}

std::vector<Case> cases() {
  const PageAlloc two_pages{.page = 0x100, .order = 1};
  const auto call = [](const char* name, const SystemCallEntry& entry, std::int64_t result) {
    return system_call(name, entry, result, {.at_ns = 9000, .took_ns = 3000});
  };
  const auto reclaim = [](WorkKind kind) {
    return std::vector<Step>{begin(0, {.kind = kind}), end(1500, {.kind = kind, .pages = 1})};
  };
  return {
      {"slab", {cache_alloc({.ptr = 0x1000, .bytes_req = 100, .bytes_alloc = 192})}, 128},
      {"pages", {page_alloc(two_pages)}, 8192},
      {"kleaks", {page_alloc(two_pages)}, 8192},
      {"heap", heap_alloc(0x1000, 100), 64},
      {"leaks", heap_alloc(0x1000, 100), 64},
      {"swapin", {at(1000, entry(kHeap)), at(4000, major(kHeap))}, 2048},
      {"hfaults", {at(1000, entry(kHuge)), at(4000, minor(kHuge))}, 2048},
      {"ffaults", {at(1000, entry(kFile)), at(4000, major(kFile))}, 2048},
      {"mmap",
       call("mmap",
            {.call = SystemCall::Mmap, .arguments = {0, 5000, 3, 0x22, ~0ULL, 0}},
            0x7f0000000000),
       8192},
      {"shm", call("shmget", {.call = SystemCall::Shmget, .arguments = {0, 4096, 01600}}, 7), 2048},
      {"enomem",
       call("mmap", {.call = SystemCall::Mmap, .arguments = {0, 1 << 20U, 3, 0x22}}, -12),
       1 << 20U},
      {"compaction", reclaim(WorkKind::Compaction), 1024},
      {"vmscan", reclaim(WorkKind::DirectReclaim), 1024},
      {"writeback",
       {{.event = "writeback:balance_dirty_pages",
         .payload = DirtyBalance{.device = "8:0", .dirtied_pages = 1, .pause_ns = 5'000'000}},
        {.event = "writeback:balance_dirty_pages",
         .payload = DirtyBalance{.device = "8:0", .dirtied_pages = 1, .pause_ns = 0}}},
       4'194'304},
  };
}

TEST(RowHistograms, each_row_has_one_in_all_views_with_a_quantity) {
  for (const Case& one : cases()) {
    const auto options = find_view(one.view)->spec.options;
    EXPECT_NE(std::ranges::find(options, "hist", &ViewOption::name), options.end()) << one.view;
    EventScript script = script_of(one, {.by = {"pid"}, .own = {{"hist", "1"}}});
    const auto histograms = script.finish().tables.at(0).histograms;
    ASSERT_EQ(histograms.size(), 1U) << one.view;
    EXPECT_EQ(histograms[0].keys, (std::vector<Cell>{number(100)})) << one.view;
    const auto& buckets = histograms[0].histogram.buckets;
    ASSERT_FALSE(buckets.empty()) << one.view;
    EXPECT_EQ(buckets.back().low, one.low) << one.view;
    EXPECT_EQ(buckets.back().count, one.count) << one.view;
  }
}

TEST(RowHistograms, there_is_none_unless_asked) {
  for (const Case& one : cases()) {
    EventScript script = script_of(one, {.by = {"pid"}});
    EXPECT_TRUE(script.finish().tables.at(0).histograms.empty()) << one.view;
  }
}

TEST(RowHistograms, growth_of_a_heap_is_distributed) {
  constexpr std::uint64_t kTop = 0x555500000000;
  const auto brk = [](std::uint64_t asked, std::uint64_t top) {
    return system_call(
        "brk", {.call = SystemCall::Brk, .arguments = {asked}}, static_cast<std::int64_t>(top));
  };
  EventScript script("brk", {.by = {"pid"}, .own = {{"hist", "1"}}});
  script.play(brk(0, kTop));
  script.play(brk(kTop + 5000, kTop + 5000));
  const auto histograms = script.finish().tables.at(0).histograms;
  ASSERT_EQ(histograms.size(), 1U);
  EXPECT_EQ(histograms[0].histogram.buckets.back().low, 4096U);
}

}  // namespace
}  // namespace memtrace::test::row_histograms_test
