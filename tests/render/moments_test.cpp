#include "render/moments.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/wall_time.h"
#include "render/all/all_renderers.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kNoon = 1'795'435'200 * kSecond;  // 2026-11-23, 12:00 in Greenwich

Report report_by(ClockKind shown, std::uint64_t wall_start_ns) {
  Report report{.view = "mmap", .start_ns = 6039 * kSecond, .end_ns = 6049 * kSecond};
  report.clock = {.shown = shown, .wall_start_ns = wall_start_ns};
  report.tables.push_back({.title = "calls",
                           .columns = {{"at_ns", Unit::Moment}, {"comm", Unit::Text}},
                           .key_count = 2,
                           .rows = {{1'250'000 * std::uint64_t{1000}, "cat"}}});
  return report;
}

std::string printed(std::string_view format, const Report& report) {
  std::ostringstream out;
  make_renderer(format, {.one_line = true})->render(report, out);
  return out.str();
}

TEST(Moments, wall_clock_is_local_and_names_another_day) {
  const Report report = report_by(ClockKind::Wall, kNoon);
  EXPECT_EQ(moment_header(report), "time");
  EXPECT_EQ(moment_text(report, kSecond + 5000), local_time(kNoon + kSecond + 5000));
  const std::string next_day = moment_text(report, 24 * 3600 * kSecond);
  EXPECT_EQ(next_day, local_date(kNoon + 24 * 3600 * kSecond).substr(5) + " " + local_time(kNoon));
}

TEST(Moments, other_clocks_are_the_records_and_the_reports) {
  EXPECT_EQ(moment_text(report_by(ClockKind::Mono, kNoon), 144'123'456), "6039.144123");
  EXPECT_EQ(moment_text(report_by(ClockKind::Offset, kNoon), 1'250'000), "1.25 ms");
  EXPECT_EQ(moment_text(report_by(ClockKind::Wall, 0), 1'250'000), "1.25 ms") << "not known";
}

TEST(Moments, text_says_when_the_report_began) {
  const std::string text = printed("text", report_by(ClockKind::Wall, kNoon));
  EXPECT_NE(text.find("(10.00 s from " + local_date(kNoon) + " " + local_time(kNoon).substr(0, 8) +
                      " " + local_zone(kNoon) + ")"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\ntime             comm\n"), std::string::npos) << text;
  EXPECT_NE(printed("text", report_by(ClockKind::Wall, 0)).find("mmap (10.00 s)\n"),
            std::string::npos);
}

TEST(Moments, json_has_the_time_beside_the_offset) {
  const std::string time = rfc3339(kNoon + 1'250'000'000);
  const std::string wall = printed("json", report_by(ClockKind::Wall, kNoon));
  EXPECT_NE(wall.find("{\"time\":\"" + time + "\",\"at_ns\":1250000000,"), std::string::npos)
      << wall;
  EXPECT_NE(wall.find("\"start_time\":\"" + rfc3339(kNoon) + "\""), std::string::npos) << wall;
  EXPECT_NE(wall.find(R"({"name":"time","unit":"text"},{"name":"at_ns","unit":"ns"})"),
            std::string::npos);
  const std::string mono = printed("json", report_by(ClockKind::Mono, kNoon));
  EXPECT_NE(mono.find(R"({"mono_ns":6040250000000,"at_ns":1250000000,)"), std::string::npos)
      << mono;
  EXPECT_NE(printed("json", report_by(ClockKind::Offset, kNoon)).find(R"({"at_ns":1250000000,)"),
            std::string::npos);
  EXPECT_EQ(printed("json", report_by(ClockKind::Wall, 0)).find("time\""), std::string::npos);
}

TEST(Moments, csv_has_the_time_in_a_column_of_its_own) {
  EXPECT_EQ(printed("csv", report_by(ClockKind::Wall, kNoon)),
            "time,at_ns,comm\n" + rfc3339(kNoon + 1'250'000'000) + ",1250000000,cat\n");
  EXPECT_EQ(printed("csv", report_by(ClockKind::Offset, kNoon)), "at_ns,comm\n1250000000,cat\n");
}

}  // namespace
}  // namespace memtrace
