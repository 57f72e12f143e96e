#include "support/call_script.h"

namespace memtrace::test {
namespace {

constexpr std::int64_t kNoMemory = -12;
constexpr std::uint64_t kMega = 1U << 20U;

std::vector<Step> map(std::uint64_t bytes, std::int64_t result, const CallAt& when = {}) {
  return system_call(
      "mmap", {.call = SystemCall::Mmap, .arguments = {0, bytes, 3, 0x22}}, result, when);
}

void observe(EventScript& script, std::uint64_t at_ns, const Facts& facts) {
  script.world().observations().add(
      {.reader = "limits", .time_ns = at_ns, .tid = 100, .delay_ns = 55, .facts = facts});
}

Cell of_row(const Table& table, std::string_view column, std::size_t row = 0) {
  return table.rows.at(row).at(column_index(table, column));
}

// What one refused call is said to have exceeded.
Cell exceeds(const std::vector<Step>& call, const Facts& facts) {
  EventScript script("enomem");
  observe(script, 1000, facts);
  script.play(call);
  const Report report = script.finish();
  return of_row(report.tables.at(1), "exceeds");
}

TEST(EnomemView, refused_calls_are_counted_with_what_they_asked_for) {
  EventScript script("enomem");
  script.play(map(kMega, 0x1000));
  script.play(map(kMega, kNoMemory));
  script.play(map(3 * kMega, kNoMemory));
  script.play(map(kMega, -22));
  script.play(system_call("clone3", {.call = SystemCall::Clone3}, -11, {.stack = 2}));
  const Report report = script.finish();
  EXPECT_EQ(total(report, "count"), 3U);
  EXPECT_EQ(total(report, "calls"), 5U);
  EXPECT_EQ(figure(report, {stack(1)}, "count"), number(2));
  EXPECT_EQ(figure(report, {stack(1)}, "asked"), number(4 * kMega));
  EXPECT_EQ(figure(report, {stack(1)}, "largest"), number(3 * kMega));
  EXPECT_EQ(figure(report, {stack(2)}, "asked"), Cell());
}

TEST(EnomemView, a_brk_that_stays_below_what_was_asked_for_was_refused) {
  EventScript script("enomem");
  script.play(system_call("brk", {.call = SystemCall::Brk, .arguments = {0x9000}}, 0x4000));
  script.play(system_call("brk", {.call = SystemCall::Brk, .arguments = {0}}, 0x4000));
  const Report report = script.finish();
  EXPECT_EQ(total(report, "count"), 1U);
  EXPECT_EQ(total(report, "asked"), 0x5000U);
  EXPECT_EQ(of_row(report.tables.at(1), "error"), text("refused"));
}

TEST(EnomemView, the_limits_of_that_moment_are_shown) {
  EventScript script("enomem");
  observe(script,
          1000,
          {.numbers = {{"vm_size", 10 * kMega}, {"rlimit_as", 10 * kMega}, {"mappings", 12}},
           .texts = {{"rlimit_data", "unlimited"}}});
  script.play(map(kMega, kNoMemory));
  const Report report = script.finish();
  EXPECT_EQ(of_row(report.tables.at(1), "exceeds"), text("RLIMIT_AS"));
  EXPECT_EQ(of_row(report.tables.at(1), "read_after_ns"), number(55));
  EXPECT_EQ(of_row(report.tables.at(2), "rlimit_as"), number(10 * kMega));
  EXPECT_EQ(of_row(report.tables.at(2), "rlimit_data"), text("unlimited"));
  EXPECT_EQ(of_row(report.tables.at(2), "mappings"), number(12));
  EXPECT_EQ(of_row(report.tables.at(2), "max_map_count"), Cell());
  EXPECT_EQ(of_row(report.tables.at(3), "commit_limit"), Cell());
}

// What is left of a process that ended before /proc was read: the machine's limits.
TEST(EnomemView, limits_of_a_process_that_ended_at_once_are_not_known_and_a_note_says_so) {
  const std::string note =
      "1 process ended before the limits were read: exceeds knows those of the machine alone, not "
      "RLIMIT_*, the number of mappings or the cgroup";
  EventScript script("enomem");
  const Facts machine = {
      .numbers = {{"overcommit_memory", 0}, {"total", kMega}, {"swap_total", 0}}};
  observe(script, 1000, machine);
  script.play(map(kMega, kNoMemory));
  Report report = script.finish();
  EXPECT_EQ(of_row(report.tables.at(1), "exceeds"), Cell());
  EXPECT_EQ(report.caveats.notes, std::vector<std::string>{note});
  observe(script, 2000, machine);
  script.play(map(2 * kMega, kNoMemory, {.at_ns = 2000}));
  report = script.finish();
  EXPECT_EQ(of_row(report.tables.at(1), "exceeds"), text("overcommit"));
  EXPECT_TRUE(report.caveats.notes.empty()) << "it was found";
  observe(script, 3000, {.texts = {{"rlimit_as", "unlimited"}}});
  script.play(map(kMega, kNoMemory, {.at_ns = 3000}));
  EXPECT_TRUE(script.finish().caveats.notes.empty()) << "it was there";
}

TEST(EnomemView, exceeded_limits_are_named_by_the_evidence) {
  EXPECT_EQ(exceeds(map(kMega, kNoMemory), {}), Cell());
  EXPECT_EQ(
      exceeds(map(kMega, kNoMemory), {.numbers = {{"vm_data", 0}, {"rlimit_data", kMega - 1}}}),
      text("RLIMIT_DATA"));
  EXPECT_EQ(
      exceeds(map(4096, kNoMemory), {.numbers = {{"mappings", 65531}, {"max_map_count", 65530}}}),
      text("max_map_count"));
  EXPECT_EQ(
      exceeds(map(kMega, kNoMemory),
              {.numbers = {{"overcommit_memory", 2}, {"committed", 99}, {"commit_limit", 100}}}),
      text("overcommit"));
  EXPECT_EQ(exceeds(map(kMega, kNoMemory),
                    {.numbers = {{"overcommit_memory", 0}, {"total", 5}, {"swap_total", 5}}}),
            text("overcommit"));
  EXPECT_EQ(
      exceeds(map(kMega, kNoMemory),
              {.numbers = {{"overcommit_memory", 1}, {"committed", 99}, {"commit_limit", 9}}}),
      Cell());
  EXPECT_EQ(exceeds(system_call("clone", {.call = SystemCall::Clone}, -11),
                    {.numbers = {{"pids", 10}, {"pids_limit", 10}}}),
            text("pids cgroup"));
}

TEST(EnomemView, asking_for_more_than_a_limit_is_evidence_without_the_process) {
  EXPECT_EQ(exceeds(map(3 * kMega, kNoMemory), {.numbers = {{"rlimit_as", kMega}}}),
            text("RLIMIT_AS"));
  EXPECT_EQ(exceeds(map(kMega, kNoMemory), {.numbers = {{"rlimit_as", kMega}}}), Cell());
}

TEST(EnomemView, an_address_space_that_nobody_could_read_is_that_of_the_mappings) {
  EventScript script("enomem");
  observe(script, 1000, {.numbers = {{"rlimit_as", 4 * kMega}}});
  script.world().announce({.pid = 100, .tid = 100, .range = {0x10000, 0x10000 + 2 * kMega}});
  script.play(map(3 * kMega, kNoMemory));
  const Report report = script.finish();
  EXPECT_EQ(of_row(report.tables.at(1), "exceeds"), text("RLIMIT_AS"));
  EXPECT_EQ(of_row(report.tables.at(2), "vm_size"), number(2 * kMega));
}

TEST(EnomemView, huge_pages_come_from_a_pool) {
  const auto map_huge = [](std::uint64_t flags) {
    return system_call(
        "mmap", {.call = SystemCall::Mmap, .arguments = {0, 4 * kMega, 3, flags}}, kNoMemory);
  };
  constexpr std::uint64_t kHuge = 0x40022;
  const Facts empty{.numbers = {{"huge_page", 2 * kMega}, {"huge_free", 0}}};
  EXPECT_EQ(exceeds(map_huge(kHuge), empty), text("hugetlb pool"));
  EXPECT_EQ(exceeds(map_huge(kHuge | std::uint64_t{21} << 26U), empty), text("hugetlb pool"));
  EXPECT_EQ(exceeds(map_huge(kHuge | std::uint64_t{30} << 26U), empty), Cell());
  EXPECT_EQ(exceeds(map_huge(0x22), empty), Cell());
  EXPECT_EQ(
      exceeds(map_huge(kHuge),
              {.numbers = {{"huge_page", 2 * kMega}, {"huge_free", 3}, {"huge_reserved", 2}}}),
      text("hugetlb pool"));
  EXPECT_EQ(exceeds(map_huge(kHuge),
                    {.numbers = {{"huge_page", 2 * kMega},
                                 {"huge_free", 1},
                                 {"huge_overcommit", 2},
                                 {"huge_surplus", 1}}}),
            Cell());
}

TEST(EnomemView, of_a_burst_the_last_with_a_reading_is_shown) {
  EventScript script("enomem");
  observe(script, 1000, {.numbers = {{"vm_size", 7}}});
  script.play(map(kMega, kNoMemory));
  script.play(map(kMega, kNoMemory, {.at_ns = 2000}));
  script.world().observations().add_skipped(1);
  const Report report = script.finish();
  ASSERT_EQ(report.tables.at(2).rows.size(), 1U);
  EXPECT_EQ(of_row(report.tables.at(2), "vm_size"), number(7));
  EXPECT_TRUE(has_note(report, "not known for 1"));
}

TEST(EnomemView, the_trace_has_a_line_for_each_refusal) {
  ViewOptions options;
  options.own["trace"] = "1";
  EventScript script("enomem", options);
  observe(script, 2000, {.numbers = {{"available", 3}}});
  script.play(map(kMega, kNoMemory));
  script.play(map(2 * kMega, kNoMemory, {.at_ns = 2000}));
  const Table trace = script.lines();
  ASSERT_EQ(trace.rows.size(), 2U);
  EXPECT_EQ(of_row(trace, "available", 0), Cell());
  EXPECT_EQ(of_row(trace, "available", 1), number(3));
  EXPECT_EQ(of_row(trace, "asked", 1), number(2 * kMega));
  EXPECT_EQ(of_row(trace, "error", 1), text("ENOMEM"));
}

}  // namespace
}  // namespace memtrace::test
