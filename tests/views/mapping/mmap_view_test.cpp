#include "support/call_script.h"

namespace memtrace::test::mmap_view_test {
namespace {

constexpr std::uint64_t kPlace = 0x7f0000000000;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kAnonymous = 0x22;

std::vector<Step> map(std::uint64_t bytes, std::uint64_t at, const CallAt& when = {}) {
  return system_call("mmap",
                     {.call = SystemCall::Mmap, .arguments = {0, bytes, 3, kAnonymous, ~0ULL, 0}},
                     static_cast<std::int64_t>(at),
                     when);
}

std::vector<Step> unmap(std::uint64_t at, std::uint64_t bytes, const CallAt& when = {}) {
  return system_call("munmap", {.call = SystemCall::Munmap, .arguments = {at, bytes}}, 0, when);
}

struct RemapAt {
  std::uint64_t flags = 1;
  std::uint64_t at_ns = 5000;
};

std::vector<Step> remap(std::uint64_t from,
                        std::uint64_t old_bytes,
                        std::uint64_t new_bytes,
                        std::uint64_t to,
                        const RemapAt& how = {}) {
  return system_call(
      "mremap",
      {.call = SystemCall::Mremap, .arguments = {from, old_bytes, new_bytes, how.flags}},
      static_cast<std::int64_t>(to),
      {.at_ns = how.at_ns, .stack = 9});
}

ViewOptions with(const std::string& own) {
  ViewOptions options;
  options.own[own] = "1";
  return options;
}

TEST(MmapView, what_is_mapped_and_not_unmapped_is_live) {
  EventScript script("mmap");
  script.play(map(10 * kPage, kPlace));
  script.play(map(kPage + 1, kPlace + 100 * kPage));
  script.play(unmap(kPlace + 2 * kPage, 3 * kPage, {.at_ns = 2000}));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "count"), number(2));
  EXPECT_EQ(figure(report, {stack(1)}, "bytes"), number(12 * kPage));
  EXPECT_EQ(figure(report, {stack(1)}, "live"), number(9 * kPage));
  EXPECT_EQ(total(report, "unmaps"), 1U);
  EXPECT_EQ(total(report, "live"), 9 * kPage);
}

TEST(MmapView, a_mapping_over_another_takes_its_place) {
  EventScript script("mmap");
  script.play(map(10 * kPage, kPlace));
  script.play(map(4 * kPage, kPlace + kPage, {.at_ns = 2000, .stack = 2}));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "live"), number(6 * kPage));
  EXPECT_EQ(figure(report, {stack(2)}, "live"), number(4 * kPage));
}

TEST(MmapView, mremap_moves_what_there_is_and_adds_what_it_grows_by) {
  EventScript script("mmap");
  script.play(map(4 * kPage, kPlace));
  script.play(remap(kPlace, 4 * kPage, 10 * kPage, kPlace + 50 * kPage));
  script.play(unmap(kPlace + 50 * kPage, kPage, {.at_ns = 6000}));
  Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "live"), number(3 * kPage));
  EXPECT_EQ(figure(report, {stack(9)}, "bytes"), number(6 * kPage));
  EXPECT_EQ(figure(report, {stack(9)}, "live"), number(6 * kPage));
  script.play(
      remap(kPlace + 51 * kPage, 9 * kPage, 2 * kPage, kPlace + 51 * kPage, {.at_ns = 7000}));
  report = script.finish();
  EXPECT_EQ(total(report, "live"), 2 * kPage);
  EXPECT_EQ(total(report, "bytes"), 0U);
}

TEST(MmapView, a_remapping_that_keeps_the_old_place_is_a_new_mapping) {
  EventScript script("mmap");
  script.play(map(4 * kPage, kPlace));
  script.play(remap(kPlace, 4 * kPage, 4 * kPage, kPlace + 50 * kPage, {.flags = 5}));
  const Report report = script.finish();
  EXPECT_EQ(total(report, "live"), 8 * kPage);
  EXPECT_EQ(figure(report, {stack(9)}, "bytes"), number(4 * kPage));
}

TEST(MmapView, failed_calls_are_counted_with_their_errors_and_map_nothing) {
  ViewOptions options;
  options.by = {"error", "call"};
  EventScript script("mmap", options);
  script.play(map(kPage, static_cast<std::uint64_t>(-12)));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("ENOMEM"), text("mmap")}, "failed"), number(1));
  EXPECT_EQ(figure(report, {text("ENOMEM"), text("mmap")}, "bytes"), number(0));
}

TEST(MmapView, files_have_their_paths_and_anonymous_memory_says_so) {
  ViewOptions options;
  options.by = {"file", "protection", "flags"};
  EventScript script("mmap", options);
  play_mapping(
      script,
      system_call(
          "mmap", {.call = SystemCall::Mmap, .arguments = {0, kPage, 5, 0x802, 3, kPage}}, kPlace),
      {.start = kPlace, .bytes = kPage, .path = "/lib/x.so"});
  script.play(map(kPage, kPlace + 9 * kPage));
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {text("/lib/x.so"), text("r-x"), text("private|denywrite")}, "count"),
            number(1));
  EXPECT_EQ(figure(report, {text("[anonymous]"), text("rw-"), text("private|anonymous")}, "count"),
            number(1));
}

TEST(MmapView, a_thread_that_maps_what_another_unmaps_keeps_it) {
  EventScript script("mmap");
  script.play(map(kPage, kPlace));
  const auto unmapping = unmap(kPlace, kPage, {.at_ns = 3000, .took_ns = 1000, .tid = 101});
  script.play(unmapping[0]);
  script.play(map(kPage, kPlace, {.at_ns = 2900, .tid = 102, .stack = 2}));
  script.play(unmapping[1]);
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(1)}, "live"), number(0));
  EXPECT_EQ(figure(report, {stack(2)}, "live"), number(kPage));
}

TEST(MmapView, what_is_live_stays_from_interval_to_interval_and_goes_with_exec) {
  EventScript script("mmap");
  script.play(map(kPage, kPlace));
  EXPECT_EQ(total(script.finish(), "bytes"), kPage);
  const Report second = script.finish();
  EXPECT_EQ(total(second, "bytes"), 0U);
  EXPECT_EQ(total(second, "live"), kPage);
  script.world().exec(100);
  script.play(unmap(kPlace + 9 * kPage, kPage));
  EXPECT_EQ(total(script.finish(), "live"), 0U);
}

TEST(MmapView, what_a_process_had_at_its_end_is_live_no_more) {
  EventScript script("mmap");
  script.name_process(100, "worker");
  script.play(map(kPage, kPlace));
  script.world().exit(100, 100);
  const Report report = script.finish();
  EXPECT_EQ(total(report, "live"), 0U);
  EXPECT_EQ(figure(report, {stack(1)}, "at_exit"), number(kPage));
  EXPECT_EQ(total(script.finish(), "at_exit"), 0U);
}

TEST(MmapView, the_trace_has_a_line_for_each_call) {
  EventScript script("mmap", with("trace"));
  script.name_process(100, "worker");
  script.play(map(kPage, kPlace));
  script.play(unmap(kPlace, kPage));
  script.play(map(kPage, static_cast<std::uint64_t>(-22)));
  const Table trace = script.lines();
  ASSERT_EQ(trace.rows.size(), 3U);
  EXPECT_EQ(trace.rows[0][column_index(trace, "comm")], text("worker"));
  EXPECT_EQ(trace.rows[0][column_index(trace, "tid")], number(100));
  EXPECT_EQ(trace.rows[0][column_index(trace, "prot")], text("rw-"));
  EXPECT_EQ(trace.rows[0][column_index(trace, "offset")], Cell());
  EXPECT_EQ(trace.rows[0][column_index(trace, "result")], number(kPlace));
  EXPECT_EQ(trace.rows[0][column_index(trace, "took_ns")], number(10));
  EXPECT_EQ(trace.rows[1][column_index(trace, "call")], text("munmap"));
  EXPECT_EQ(trace.rows[1][column_index(trace, "flags")], Cell());
  EXPECT_EQ(trace.rows[1][column_index(trace, "result")], number(kPlace));
  EXPECT_EQ(trace.rows[2][column_index(trace, "result")], text("EINVAL"));
}

TEST(MmapView, all_mappings_can_be_listed) {
  EventScript script("mmap", with("maps"));
  announce(script,
           {.start = kPlace,
            .bytes = 4 * kPage,
            .path = "/lib/x.so",
            .file_offset = kPage,
            .inode = 77});
  script.play(unmap(kPlace, kPage));
  const Report report = script.finish();
  const Table& maps = report.tables.at(1);
  ASSERT_EQ(maps.rows.size(), 1U);
  EXPECT_EQ(maps.rows[0][column_index(maps, "start")], number(kPlace + kPage));
  EXPECT_EQ(maps.rows[0][column_index(maps, "bytes")], number(3 * kPage));
  EXPECT_EQ(maps.rows[0][column_index(maps, "offset")], number(2 * kPage));
  EXPECT_EQ(maps.rows[0][column_index(maps, "inode")], number(77));
  EXPECT_EQ(maps.rows[0][column_index(maps, "kind")], text("file"));
  EXPECT_EQ(maps.rows[0][column_index(maps, "access")], text("rw-p"));
}

TEST(MmapView, without_records_of_data_mappings_it_says_so) {
  EventScript script("mmap");
  script.play(map(kPage, kPlace));
  const Report report = script.finish();
  EXPECT_TRUE(has_note(report, "only mappings of code are known"));
  EXPECT_TRUE(report.inconclusive);
}

}  // namespace
}  // namespace memtrace::test::mmap_view_test
