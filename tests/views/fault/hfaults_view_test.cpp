#include <optional>

#include "support/truth_rows.h"
#include "views/fault/fault_script.h"

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

// 64 KiB, as with hugepages-64kB/enabled. The page cache takes a folio of the same order.
TEST(HugeFaults, smaller_large_folios_of_a_process_have_a_column_and_a_size) {
  const auto folio = [](std::uint32_t order, bool like_huge_page) {
    return Step{.event = "kmem:mm_page_alloc",
                .payload = PageAlloc{.order = order, .like_huge_page = like_huge_page}};
  };
  EventScript script("hfaults", {.by = {"size"}});
  map_both(script);
  script.play({entry(kHeap), folio(4, true), minor(kHeap)});
  script.play({entry(kHeap + 0x10000), folio(4, true), minor(kHeap + 0x10000)});
  script.play({entry(kHeap + 0x20000), folio(4, false), minor(kHeap + 0x20000)});
  script.play({entry(kHeap + 0x200000), folio(9, true), minor(kHeap + 0x200000)});
  script.play({entry(kHugetlb), minor(kHugetlb)});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 3U);
  EXPECT_EQ(figure(report, {number(65536)}, "mthp"), number(2));
  EXPECT_EQ(figure(report, {number(65536)}, "thp"), number(0));
  EXPECT_EQ(figure(report, {number(2097152)}, "thp"), number(1));
  EXPECT_EQ(figure(report, {Cell()}, "hugetlb"), number(1));
  EXPECT_EQ(total(report, "count"), 4U);
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

// hugetlb_fault's kprobe, as record --kprobes has it.
class ProbedHugeFaults : public testing::Test {
 protected:
  static Step probed(std::uint64_t address, bool is_write = true) {
    return {.event = kProbe, .payload = {}, .fields = {address, is_write ? 1U : 0U}};
  }

  EventScript& prepare(std::string_view key, bool with_mappings) {
    script_.emplace("hfaults", ViewOptions{.by = {std::string(key)}});
    script_->add_field(kProbe, "address");
    script_->add_field(kProbe, "flags");
    if (with_mappings) {
      map_both(*script_);
    }
    EXPECT_TRUE(script_->check().ok());
    return *script_;
  }

  static constexpr const char* kProbe = "memtrace_kernel_7:hugetlb_fault";
  std::optional<EventScript> script_;
};

TEST_F(ProbedHugeFaults, fault_that_the_exceptions_tell_too_is_one) {
  EventScript& script = prepare("pid", true);
  // Tried again inside.
  script.play({at(1000, entry(kHugetlb + 8)),
               probed(kHugetlb + 8),
               probed(kHugetlb + 8),
               at(5000, minor(kHugetlb + 8))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "hugetlb"), number(1));
  EXPECT_EQ(figure(report, {number(100)}, "time"), number(4000));
  EXPECT_FALSE(has_note(report, "kprobe"));
}

TEST_F(ProbedHugeFaults, kernels_own_accesses_count_and_have_no_time) {
  EventScript& script = prepare("mode", true);
  script.play({probed(kHugetlb), probed(kHugetlb + 0x200000), probed(kHugetlb + 0x400000, false)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("kernel")}, "hugetlb"), number(3));
  EXPECT_EQ(figure(report, {text("kernel")}, "time"), Cell());
  EXPECT_EQ(total(report, "hugetlb"), 3U);
  EXPECT_TRUE(has_note(report, "3 hugetlb faults are known only from the kprobe"));
  EXPECT_EQ(total(script.finish(), "count"), 0U);
}

TEST_F(ProbedHugeFaults, access_is_told_by_the_flags_and_the_stack_is_the_probes) {
  EventScript& by_access = prepare("access", true);
  by_access.play({probed(kHugetlb), probed(kHugetlb), probed(kHugetlb, false)});
  const Report report = by_access.finish();
  EXPECT_EQ(figure(report, {text("write")}, "hugetlb"), number(2));
  EXPECT_EQ(figure(report, {text("read")}, "hugetlb"), number(1));
  EventScript& by_stack = prepare("stack", true);
  by_stack.play(with_stack(4, probed(kHugetlb)));
  EXPECT_EQ(figure(by_stack.finish(), {stack(4)}, "hugetlb"), number(1));
}

TEST_F(ProbedHugeFaults, mappings_need_not_be_known) {
  EventScript& script = prepare("pid", false);
  script.play({entry(kHugetlb), probed(kHugetlb), minor(kHugetlb), entry(kHeap), minor(kHeap)});
  script.play({entry(kHugetlb + 0x200000), probed(kHugetlb + 0x200000), entry(kHeap)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "hugetlb"), number(1));
  EXPECT_EQ(figure(report, {number(100)}, "failed"), number(1));
  EXPECT_FALSE(has_note(report, "mappings"));
}

TEST_F(ProbedHugeFaults, fault_of_another_page_or_thread_is_not_the_probed_one) {
  EventScript& script = prepare("tid", false);
  script.play({entry(kHeap), probed(kHugetlb), by_thread(101, probed(kHeap)), minor(kHeap)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "hugetlb"), number(1));
  EXPECT_EQ(figure(report, {number(101)}, "hugetlb"), number(1));
  EXPECT_EQ(total(report, "count"), 2U);
}

TEST_F(ProbedHugeFaults, of_sampled_faults_the_probe_tells_all) {
  EventScript& script = prepare("pid", true);
  script.play({weighing(10, entry(kHugetlb)), probed(kHugetlb), weighing(10, minor(kHugetlb))});
  script.play({probed(kHugetlb + 0x200000), probed(kHugetlb + 0x400000)});
  EXPECT_EQ(figure(script.finish(), {number(100)}, "hugetlb"), number(3));
}

TEST_F(ProbedHugeFaults, perfs_own_probe_without_arguments_will_do) {
  EventScript script("hfaults", {.by = {"pid"}});
  const Step bare{.event = "probe:hugetlb_fault", .payload = {}};
  script.play({entry(kHugetlb), bare, minor(kHugetlb), bare});
  EXPECT_EQ(figure(script.finish(), {number(100)}, "hugetlb"), number(2));
}

TEST(HugeFaults, every_key_makes_a_row) {
  for (const std::string_view key : find_view("hfaults")->spec.keys) {
    EventScript script("hfaults", {.by = {std::string(key)}});
    map_both(script);
    script.play({entry(kHugetlb), minor(kHugetlb)});
    EXPECT_EQ(script.finish().tables[0].rows.size(), 1U) << key;
  }
}

// The kernel counts huge pages of shared memory elsewhere.
TEST(HugeFaults, only_anonymous_ones_stand_beside_the_kernels_counter_of_them) {
  constexpr std::uint64_t kShared = 0x40000000;
  EventScript script("hfaults");
  map(script, {kShared, 4U << 20U, AreaKind::SharedMemory, "/dev/zero (deleted)", 0, true});
  script.world().note_vmstat_growth({{"thp_fault_alloc", 1}});
  script.world().note_all_events(true);
  script.world().note_own_events({{"kmem:mm_page_alloc", 0}});
  script.play({entry(0x200000), page_alloc(9), minor(0x200000)});
  script.play({entry(kShared), page_alloc(9), minor(kShared)});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "thp"), 2U);
  const auto truth = truth_rows(report);
  ASSERT_EQ(truth.size(), 1U);
  EXPECT_EQ(truth[0].at(0), text("anonymous thp"));
  EXPECT_EQ(truth[0].at(1), number(1));
  EXPECT_EQ(truth[0].at(4), Cell(100.0));
}

}  // namespace
}  // namespace memtrace::test
