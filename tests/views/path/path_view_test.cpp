#include "support/call_script.h"
#include "support/fake_namer.h"
#include "views/fault/fault_script.h"

namespace memtrace::path_view_test {
namespace {

using namespace memtrace::test;

constexpr std::uint64_t kPageBytes = 4096;

ViewOptions by_layer() {
  return {.by = {"layer"}};
}

Step page(std::uint64_t at_ns, std::uint32_t order = 0) {
  return at(at_ns, page_alloc(PageAlloc{.page = 7, .order = order}));
}

Step begin(WorkKind kind, std::uint64_t at_ns) {
  return {.event = kind == WorkKind::Compaction ? "compaction:mm_compaction_begin"
                                                : "vmscan:mm_vmscan_direct_reclaim_begin",
          .payload = WorkBegin{.kind = kind},
          .at_ns = at_ns};
}

Step end(WorkKind kind, std::uint64_t at_ns, std::uint64_t pages = 0) {
  return {.event = kind == WorkKind::Compaction ? "compaction:mm_compaction_end"
                                                : "vmscan:mm_vmscan_direct_reclaim_end",
          .payload = WorkEnd{.kind = kind, .pages = pages},
          .at_ns = at_ns};
}

TEST(PathView, a_fault_is_split_into_its_layers) {
  EventScript script("path", by_layer());
  script.play(at(1000, entry(0x10000)));
  script.play(begin(WorkKind::DirectReclaim, 1100));
  script.play(end(WorkKind::DirectReclaim, 1400, 32));
  script.play(begin(WorkKind::Compaction, 1400));
  script.play(end(WorkKind::Compaction, 1450));
  script.play(page(1500));
  script.play(page(1510));
  script.play(at(2000, minor(0x10000)));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("page fault")}, "time"), number(650));
  EXPECT_EQ(figure(report, {text("page fault")}, "touched"), number(kPageBytes));
  EXPECT_EQ(figure(report, {text("page fault > page allocation")}, "allocated"),
            number(2 * kPageBytes));
  EXPECT_EQ(figure(report, {text("page fault > page allocation > direct reclaim")}, "time"),
            number(300));
  EXPECT_EQ(figure(report, {text("page fault > page allocation > direct reclaim")}, "reclaimed"),
            number(32 * kPageBytes));
  EXPECT_EQ(figure(report, {text("page fault > page allocation > compaction")}, "time"),
            number(50));
  EXPECT_EQ(total(report, "time"), 1000U) << "the fault's own, divided";
  EXPECT_EQ(total(report, "fault_time"), 1000U);
}

TEST(PathView, the_table_of_layers_has_time_with_what_is_below_and_without) {
  EventScript script("path", by_layer());
  script.play(at(1000, entry(0x10000)));
  script.play(begin(WorkKind::DirectReclaim, 1100));
  script.play(end(WorkKind::DirectReclaim, 1400, 1));
  script.play(page(1500));
  script.play(at(2000, minor(0x10000)));
  const Table layers = script.finish().tables.at(1);
  ASSERT_EQ(layers.rows.size(), 3U);
  const auto cell = [&](std::size_t row, std::string_view column) {
    return layers.rows.at(row).at(column_index(layers, column));
  };
  EXPECT_EQ(cell(0, "layer"), text("page fault"));
  EXPECT_EQ(cell(0, "time"), number(1000));
  EXPECT_EQ(cell(0, "self"), number(700));
  EXPECT_EQ(cell(0, "of_all"), Cell(70.0));
  EXPECT_EQ(cell(1, "layer"), text("page fault > page allocation"));
  EXPECT_EQ(cell(1, "time"), number(300));
  EXPECT_EQ(cell(1, "self"), number(0));
  EXPECT_EQ(cell(2, "self"), number(300));
  EXPECT_EQ(cell(0, "bytes"), number(kPageBytes)) << "touched";
  EXPECT_EQ(cell(2, "bytes"), number(kPageBytes)) << "reclaimed";
}

TEST(PathView, calls_have_what_they_mapped_and_the_pages_that_they_took) {
  EventScript script("path", by_layer());
  const auto map = system_call("mmap",
                               {.call = SystemCall::Mmap, .arguments = {0, 0x8000, 3, 0x22}},
                               0x7000,
                               {.at_ns = 1000, .took_ns = 100});
  script.play(map.front());
  script.play(page(950));
  script.play(map.back());
  script.play(system_call(
      "mmap", {.call = SystemCall::Mmap, .arguments = {0, 0x8000, 3, 0x22}}, -12, {.at_ns = 2000}));
  for (const std::int64_t top : {0x5000, 0x9000, 0x6000}) {
    script.play(system_call("brk", {.call = SystemCall::Brk}, top, {.at_ns = 3000}));
  }
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("mmap")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("mmap")}, "mapped"), number(0x8000)) << "one failed";
  EXPECT_EQ(figure(report, {text("mmap")}, "time"), number(110));
  EXPECT_EQ(figure(report, {text("mmap > page allocation")}, "allocated"), number(kPageBytes));
  EXPECT_EQ(figure(report, {text("brk")}, "mapped"), number(0x4000));
}

TEST(PathView, a_major_fault_says_where_the_page_came_from) {
  EventScript script("path", by_layer());
  map(script, {.start = 0x10000, .bytes = 0x2000});
  map(script, {.start = 0x20000, .bytes = 0x2000, .kind = AreaKind::File, .path = "/f"});
  script.play(at(1000, entry(0x10000)));
  script.play(at(1500, major(0x10000)));
  script.play(at(2000, entry(0x20000)));
  script.play(at(2300, major(0x20000)));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("page fault > swap-in")}, "time"), number(500));
  EXPECT_EQ(figure(report, {text("page fault > file read")}, "time"), number(300));
}

TEST(PathView, a_cgroup_reclaims_outside_of_the_allocator) {
  EventScript script("path", by_layer());
  script.play(at(1000, entry(0x10000)));
  script.play(begin(WorkKind::MemcgReclaim, 1100));
  script.play(end(WorkKind::MemcgReclaim, 1300, 8));
  script.play(at(2000, minor(0x10000)));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("page fault > cgroup reclaim")}, "time"), number(200));
  EXPECT_EQ(figure(report, {text("page fault > cgroup reclaim")}, "reclaimed"),
            number(8 * kPageBytes));
}

TEST(PathView, work_within_other_work_is_counted_once) {
  EventScript script("path", by_layer());
  script.play(at(1000, entry(0x10000)));
  script.play(begin(WorkKind::DirectReclaim, 1100));
  script.play(begin(WorkKind::MemcgReclaim, 1150));
  script.play(end(WorkKind::MemcgReclaim, 1250, 8));
  script.play(end(WorkKind::DirectReclaim, 1400, 8));
  script.play(at(2000, minor(0x10000)));
  EXPECT_EQ(total(script.finish(), "reclaimed"), 8 * kPageBytes);
}

TEST(PathView, what_is_in_no_fault_and_no_call_is_elsewhere) {
  EventScript script("path", by_layer());
  script.play(page(500, 1));
  script.play(begin(WorkKind::DirectReclaim, 1100));
  script.play(end(WorkKind::DirectReclaim, 1400, 32));
  script.play(at(2000, entry(0x10000)));
  script.play(by_thread(200, page(2100)));
  script.play(at(2500, minor(0x10000)));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("other kernel work > page allocation")}, "allocated"),
            number(3 * kPageBytes));
  EXPECT_EQ(figure(report, {text("other kernel work > page allocation > direct reclaim")}, "time"),
            number(300));
  EXPECT_EQ(total(report, "fault_time"), 500U);
}

TEST(PathView, faults_of_kernel_code_are_a_layer_of_their_own) {
  EventScript script("path", by_layer());
  script.play(at(1000, kernel_entry(0x10000)));
  script.play(at(1200, minor(0x10000, kKernelIp)));
  EXPECT_EQ(figure(script.finish(), {text("page fault of the kernel")}, "time"), number(200));
}

TEST(PathView, a_fault_that_failed_has_touched_nothing) {
  EventScript script("path", by_layer());
  script.type("minor-faults");
  EXPECT_TRUE(script.check().ok());
  script.play(at(1000, entry(0x10000)));
  script.play(at(1100, entry(0x10000)));
  script.play(at(1200, minor(0x10000)));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("page fault")}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("page fault")}, "touched"), number(kPageBytes));
}

TEST(PathView, stacks_are_those_of_programs) {
  EventScript script("path");
  script.play(at(1000, with_stack(3, entry(0x10000))));
  script.play(at(1200, minor(0x10000)));
  // The script's stacks are of the kernel alone: nothing is left of them.
  EXPECT_EQ(figure(script.finish(), {stack(0), text("page fault")}, "time"), number(200));
}

}  // namespace
}  // namespace memtrace::path_view_test
