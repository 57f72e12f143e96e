#include "views/fault_script.h"

namespace memtrace::test {
namespace {

constexpr std::uint64_t kHeap = 0x10000000;
constexpr std::uint64_t kHugetlb = 0x20000000;

void map_both(EventScript& script) {
  map(script, {kHeap, 0x1000000, AreaKind::Heap, "[heap]"});
  map(script, {kHugetlb, 0x1000000, AreaKind::HugePages, "/anon_hugepage (deleted)"});
}

TEST(HugeFaults, hugetlb_and_transparent_ones_are_apart_and_small_ones_no_part) {
  EventScript script("hfaults", {.by = {"pid"}});
  map_both(script);
  script.play({at(1000, entry(kHugetlb)),
               at(5000, minor(kHugetlb)),
               at(6000, entry(kHeap)),
               at(6100, page_alloc(9)),
               at(8000, minor(kHeap)),
               at(9000, entry(kHeap + 0x200000)),
               at(9100, page_alloc(0)),
               at(9200, minor(kHeap + 0x200000))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "count"), number(2));
  EXPECT_EQ(figure(report, {number(100)}, "hugetlb"), number(1));
  EXPECT_EQ(figure(report, {number(100)}, "thp"), number(1));
  EXPECT_EQ(figure(report, {number(100)}, "fallback"), number(0));
  EXPECT_EQ(figure(report, {number(100)}, "time"), number(6000));
  EXPECT_EQ(total(report, "count"), 2U);
}

TEST(HugeFaults, fault_that_got_no_huge_page_is_a_fallback) {
  EventScript script("hfaults", {.by = {"pid"}});
  map_both(script);
  script.play({entry(kHeap), page_alloc(9, 0, true), page_alloc(0), minor(kHeap)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "fallback"), number(1));
  EXPECT_EQ(figure(report, {number(100)}, "count"), number(0));
}

TEST(HugeFaults, empty_pool_is_a_failure) {
  EventScript script("hfaults", {.by = {"pid"}});
  map_both(script);
  script.play({entry(kHugetlb), entry(kHugetlb + 0x200000)});
  EXPECT_EQ(figure(script.finish(), {number(100)}, "failed"), number(2));
}

TEST(HugeFaults, stack_is_the_faults) {
  EventScript script("hfaults", {.by = {"stack"}});
  map_both(script);
  script.play({with_stack(3, entry(kHugetlb)), minor(kHugetlb)});
  EXPECT_EQ(figure(script.finish(), {stack(3)}, "hugetlb"), number(1));
}

TEST(HugeFaults, pages_of_64_KiB_have_huge_pages_of_another_order) {
  EventScript script("hfaults", {.by = {"pid"}, .page_size_bytes = 65536});
  script.play({entry(kHeap), page_alloc(9), minor(kHeap)});
  EXPECT_TRUE(script.finish().tables[0].rows.empty());
  script.play({entry(kHeap), page_alloc(13), minor(kHeap)});
  EXPECT_EQ(figure(script.finish(), {number(100)}, "thp"), number(1));
}

TEST(HugeFaults, what_is_not_recorded_is_blank_and_said) {
  EventScript script("hfaults", {.by = {"pid"}});
  script.play({entry(kHeap), page_alloc(9), minor(kHeap)});
  const Report blank = script.finish();
  EXPECT_EQ(figure(blank, {number(100)}, "hugetlb"), Cell());
  EXPECT_EQ(figure(blank, {number(100)}, "thp"), number(1));
  EXPECT_TRUE(has_note(blank, "mappings"));

  EventScript without_allocs("hfaults");
  map_both(without_allocs);
  without_allocs.play({entry(kHeap), minor(kHeap)});
  const Report report = without_allocs.finish();
  EXPECT_TRUE(has_note(report, "transparent huge pages are not seen"));
  EXPECT_TRUE(report.inconclusive);
}

TEST(HugeFaults, every_key_makes_a_row) {
  for (const std::string_view key : find_view("hfaults")->spec.keys) {
    EventScript script("hfaults", {.by = {std::string(key)}});
    map_both(script);
    script.play({entry(kHugetlb), minor(kHugetlb)});
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

}  // namespace
}  // namespace memtrace::test
