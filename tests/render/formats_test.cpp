#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "render/all/all_renderers.h"

namespace memtrace::formats_test {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::string rendered(std::string_view format, const Report& report, RenderOptions options = {}) {
  std::ostringstream out;
  make_renderer(format, options)->render(report, out);
  return out.str();
}

Report report_of(Table table) {
  Report report{.view = "v"};
  report.tables.push_back(std::move(table));
  return report;
}

Table comm_table(std::vector<std::vector<Cell>> rows) {
  return {.title = "T",
          .columns = {{"comm", Unit::Text}, {"count", Unit::Count}},
          .key_count = 1,
          .weight = "count",
          .rows = std::move(rows)};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Text, an_empty_report_has_a_title_and_caveats) {
  EXPECT_EQ(rendered("text", {.view = "faults"}), "faults\n\nLost: none.\n");
}

TEST(Text, a_terminal_of_no_width_is_taken_for_a_narrow_one) {
  const std::string text =
      rendered("text", report_of(comm_table({{"bash", std::uint64_t{1}}})), {.columns = 0});
  EXPECT_TRUE(contains(text, "bash      1\n"));
}

TEST(Text, a_view_whose_caveats_differ_from_the_overview_s_has_its_own) {
  Report overview{.view = "overview", .reports = {{.view = "oom", .caveats = {.late = 2}}}};
  EXPECT_EQ(rendered("text", overview),
            "overview\n\n== oom: oom\n\nLost: 2 events (late 2).\n\nLost: none.\n");
}

TEST(Json, one_line_is_one_line) {
  EXPECT_EQ(
      rendered("json", {.view = "faults"}, {.one_line = true, .version = "9"}),
      R"({"schema":1,"version":"9","view":"faults","start_ns":0,"end_ns":0,"totals":{},"tables":[],)"
      R"("histograms":[],"series":[],"caveats":{"lost":0,"kernel":0,"late":0,"overload":0,)"
      R"("malformed":0,"disk_full":0,"cut":0,"unmatched":0,"notes":[]}})"
      "\n");
}

TEST(Json, an_overview_without_reports_still_has_the_array) {
  EXPECT_TRUE(contains(rendered("json", {.view = "overview"}, {.one_line = true}),
                       R"("reports":[],"caveats")"));
}

TEST(Json, lost_is_everything_that_is_missing) {
  const Report report{.caveats = {.lost = 1, .late = 2, .overload = 4, .malformed = 8, .cut = 16}};
  EXPECT_TRUE(contains(rendered("json", report, {.one_line = true}),
                       R"("lost":15,"kernel":1,"late":2,"overload":4,"malformed":8)"));
}

TEST(Json, twenty_digits_are_exact) {
  EXPECT_TRUE(contains(rendered("json", report_of(comm_table({{"a", kMost}})), {.one_line = true}),
                       R"("rows":[{"comm":"a","count":18446744073709551615}])"));
}

TEST(Json, bytes_that_are_not_utf8_do_not_break_it) {
  EXPECT_TRUE(
      contains(rendered("json", report_of(comm_table({{"a\xff\xc3", Cell()}})), {.one_line = true}),
               "{\"comm\":\"a\xef\xbf\xbd\xef\xbf\xbd\",\"count\":null}"));
}

TEST(Json, averages_of_bytes_are_integers_and_no_number_is_null) {
  Table table{.columns = {{"avg_bytes", Unit::Bytes}, {"rate", Unit::PerSecond}}};
  table.rows = {{32.5, 0.5}, {std::numeric_limits<double>::infinity(), Cell()}};
  EXPECT_TRUE(contains(rendered("json", report_of(table), {.one_line = true}),
                       R"("rows":[{"avg_bytes":33,"rate":0.5},{"avg_bytes":null,"rate":null}])"));
}

TEST(Json, shares_are_the_last_column) {
  Table table = comm_table({{"a", std::uint64_t{1}}, {"b", std::uint64_t{2}}, {"c", Cell()}});
  table.share_of = "count";
  table.whole = 3;
  EXPECT_TRUE(contains(
      rendered("json", report_of(table), {.one_line = true}),
      R"({"name":"share","unit":"share"}],"rows":[{"comm":"a","count":1,"share":0.333333},)"
      R"({"comm":"b","count":2,"share":0.666667},{"comm":"c","count":null,"share":null}],)"
      R"("share_of":"count")"));
  EXPECT_EQ(rendered("csv", report_of(table)),
            "comm,count,share\na,1,0.333333\nb,2,0.666667\nc,,\n");
}

TEST(Json, histograms_are_in_their_rows) {
  Table table = comm_table({{"a,b", std::uint64_t{1}}, {"c", std::uint64_t{2}}});
  table.histograms = {{{"a,b"}, {"size", Unit::Bytes, {{4, 7, 1}}}}};
  EXPECT_TRUE(contains(rendered("json", report_of(table), {.one_line = true}),
                       R"("rows":[{"comm":"a,b","count":1,"histogram":{"title":"size",)"
                       R"("unit":"bytes","buckets":[{"low":4,"high":7,"count":1}]}},)"
                       R"({"comm":"c","count":2}])"));
  EXPECT_EQ(rendered("csv", report_of(table)),
            "comm,count\n\"a,b\",1\nc,2\n\ncomm,low,high,count\n\"a,b\",4,7,1\n");
}

TEST(Json, stacks_without_frames_are_empty_and_stacks_without_names_unknown) {
  Table table{.columns = {{"stack", Unit::Stack}, {"site", Unit::Text}}, .key_count = 2};
  table.rows = {{StackId{}, LocationId{}}, {StackId{4}, LocationId{4}}};
  EXPECT_TRUE(contains(rendered("json", report_of(table), {.one_line = true}),
                       R"("rows":[{"stack":[],"site":null},{"stack":null,"site":null}])"));
}

TEST(Csv, fields_with_commas_and_quotes_are_quoted) {
  EXPECT_EQ(rendered("csv",
                     report_of(comm_table({{"a,b", std::uint64_t{1}},
                                           {"say \"x\"", kMost},
                                           {"two\nlines", Cell()},
                                           {"plain text", 0.5}}))),
            "comm,count\n"
            "\"a,b\",1\n"
            "\"say \"\"x\"\"\",18446744073709551615\n"
            "two\\x0alines,\n"
            "plain text,0.5\n");
}

TEST(Csv, text_is_no_formula_and_numbers_are_numbers) {
  Table table = comm_table({{"=1+cmd", std::int64_t{-5}},
                            {"@SUM(A1)", -0.5},
                            {"+1", Cell()},
                            {"-x", Cell()},
                            {"-", Cell()},
                            {"\t=1", Cell()},
                            {"a=1", Cell()}});
  EXPECT_EQ(rendered("csv", report_of(table)),
            "comm,count\n'=1+cmd,-5\n'@SUM(A1),-0.5\n'+1,\n'-x,\n-,\n\\x09=1,\na=1,\n");
}

// A program may put terminal commands into its own name, and a file into the names of its fields.
TEST(AllFormats, send_no_orders_to_the_terminal) {
  const std::string name =
      "a\x1b]0;b\x07 \x9b"
      "31m \xc2\x9b \u202e";
  Report report = report_of(comm_table({{name, std::uint64_t{1}}, {StackId{7}, std::uint64_t{2}}}));
  report.tables[0].columns.push_back({"stack", Unit::Stack});
  report.tables[0].rows[0].emplace_back(StackId{7});
  report.tables[0].rows[1].emplace_back(StackId{7});
  report.tables[0].columns.push_back({name, Unit::Count});
  report.tables[0].rows[0].emplace_back(std::uint64_t{3});
  report.tables[0].rows[1].emplace_back(std::uint64_t{3});
  report.stacks[StackId{7}] = {{.function = name, .module = name, .file = name}};
  report.title = name;
  report.totals = {{name, Unit::Count, 1}};
  report.caveats.notes = {name};
  for (const std::string_view format :
       {"text", "csv", "folded", "svg", "openmetrics", "speedscope", "firefox"}) {
    const std::string text = rendered(format, report, {.columns = 200});
    EXPECT_EQ(text.find_first_of("\x1b\x07\x9b"), std::string::npos) << format << "\n" << text;
    EXPECT_FALSE(contains(text, "\u202e")) << format;
    EXPECT_TRUE(contains(text, "\\x1b]0")) << format << "\n" << text;
    EXPECT_TRUE(contains(text, "\\u202e")) << format;
  }
}

TEST(AllFormats, have_something_to_say_of_nothing) {
  for (const NamedRenderer& renderer : all_renderers()) {
    EXPECT_NO_FATAL_FAILURE(rendered(renderer.name, {})) << renderer.name;
    EXPECT_NO_FATAL_FAILURE(rendered(renderer.name, report_of(comm_table({})))) << renderer.name;
  }
}

TEST(Csv, host_columns_come_first_in_each_line) {
  Report report = report_of(comm_table({{"bash", std::uint64_t{2}}}));
  report.origin = {.host = "=a,b", .boot_id = "6a6e"};
  EXPECT_EQ(rendered("csv", report, {.host_columns = true}),
            "host,boot_id,start_time,end_time,view,comm,count\n"
            "\"'=a,b\",6a6e,,,v,bash,2\n");
}

TEST(Ndjson, each_line_says_what_it_is_of) {
  Report report = report_of(comm_table({{"bash", std::uint64_t{2}}}));
  report.origin.host = "a";
  report.tables[0].columns[0].name = "host";
  EXPECT_EQ(rendered("ndjson", report),
            R"({"host":"a","boot_id":null,"start_time":null,"end_time":null,"view":"v",)"
            R"("table":"totals","lost":0})"
            "\n"
            R"({"host":"a","boot_id":null,"start_time":null,"end_time":null,"view":"v",)"
            R"("table":"T","host_":"bash","count":2})"
            "\n");
}

TEST(OpenMetrics, rows_of_few_names_are_series_and_other_rows_are_none) {
  Table table = comm_table({{"a\\\"b", std::uint64_t{2}}, {Cell(), std::uint64_t{3}}});
  EXPECT_EQ(rendered("openmetrics", report_of(table)),
            "# TYPE memtrace_v_by_comm_events gauge\n"
            "# HELP memtrace_v_by_comm_events v by comm: count\n"
            "memtrace_v_by_comm_events{comm=\"\"} 3\n"
            "memtrace_v_by_comm_events{comm=\"a\\\\\\\"b\"} 2\n"
            "# TYPE memtrace_v_duration_seconds gauge\n"
            "# UNIT memtrace_v_duration_seconds seconds\n"
            "# HELP memtrace_v_duration_seconds the time that the view v is of\n"
            "memtrace_v_duration_seconds 0\n"
            "# TYPE memtrace_v_lost_events gauge\n"
            "# HELP memtrace_v_lost_events events that are missing in the view v\n"
            "memtrace_v_lost_events 0\n"
            "# EOF\n");
  table.columns[0].name = "pid";
  EXPECT_FALSE(contains(rendered("openmetrics", report_of(table)), "_by_"));
}

TEST(OpenMetrics, figures_are_in_base_units_which_end_their_names) {
  Report report{.view = "v"};
  report.totals = {{"bytes_alloc", Unit::Bytes, 4096},
                   {"bytes", Unit::Bytes, 3},
                   {"time_ns", Unit::Nanoseconds, 1'500'000'000},
                   {"count", Unit::Count, ~std::uint64_t{0} >> 14U},
                   {"allocs_per_s", Unit::Count, 7}};
  const std::string text = rendered("openmetrics", report);
  EXPECT_TRUE(contains(text, "\nmemtrace_v_allocs_per_second 7\n")) << text;
  EXPECT_TRUE(contains(text, "\nmemtrace_v_alloc_bytes 4096\n")) << text;
  EXPECT_TRUE(contains(text, "\nmemtrace_v_bytes 3\n"));
  EXPECT_TRUE(contains(text, "\nmemtrace_v_time_seconds 1.5\n"));
  EXPECT_TRUE(contains(text, "\nmemtrace_v_events 1125899906842623\n"));
}

TEST(Svg, names_are_text_and_no_marks) {
  Report report = report_of(comm_table({{"<a href=\"x\">&\xef\xbf\xbf", std::uint64_t{2}}}));
  const std::string text = rendered("svg", report);
  EXPECT_TRUE(contains(text, "<title>&lt;a href=&quot;x&quot;&gt;&amp;?: 2, 100.00 %</title>"))
      << text;
  EXPECT_FALSE(contains(text, "<a "));
}

TEST(Svg, frames_below_a_thousandth_are_left_out_and_counted) {
  Report report =
      report_of(comm_table({{"large", std::uint64_t{10'000}}, {"small", std::uint64_t{9}}}));
  const std::string text = rendered("svg", report);
  EXPECT_FALSE(contains(text, "small")) << text;
  EXPECT_TRUE(contains(text, "1 frame below 0.1 % of count is not drawn."));
}

TEST(Csv, an_empty_report_is_empty_and_an_empty_table_is_its_header) {
  EXPECT_EQ(rendered("csv", {}), "");
  EXPECT_EQ(rendered("csv", report_of(comm_table({}))), "comm,count\n");
}

TEST(Folded, the_sum_of_the_other_rows_is_left_out) {
  Table table = comm_table({{"bash", std::uint64_t{2}}, {"other", std::uint64_t{40}}});
  EXPECT_EQ(rendered("folded", report_of(table)), "bash 2\nother 40\n");
  table.last_is_rest = true;
  EXPECT_EQ(rendered("folded", report_of(table)), "bash 2\n");
}

TEST(Folded, only_the_first_table_with_stacks_is_folded) {
  Table stacks{.columns = {{"stack", Unit::Stack}, {"bytes", Unit::Bytes}},
               .key_count = 1,
               .weight = "bytes",
               .rows = {{StackId{1}, std::uint64_t{8}}}};
  Report report = report_of(comm_table({{"bash", std::uint64_t{2}}}));
  report.tables.push_back(stacks);
  report.tables.push_back(stacks);
  report.stacks[StackId{1}] = {{.function = "inner;most", .kernel = true},
                               {.function = "in", .inlined = true},
                               {.function = "main loop"}};
  EXPECT_EQ(rendered("folded", report), "main loop;in_[i];inner:most_[k] 8\n");
}

TEST(Folded, a_place_in_code_is_a_frame_only_where_there_is_no_stack) {
  Table table{.columns = {{"call_site", Unit::Text}, {"stack", Unit::Stack}, {"n", Unit::Count}},
              .key_count = 2,
              .weight = "n",
              .rows = {{LocationId{1}, StackId{1}, std::uint64_t{8}}}};
  Report report = report_of(table);
  report.locations[LocationId{1}] = {{.function = "site", .kernel = true}};
  report.stacks[StackId{1}] = {{.function = "site", .kernel = true}, {.function = "main"}};
  EXPECT_EQ(rendered("folded", report), "main;site_[k] 8\n");
  report.tables[0].columns[1] = {"pid", Unit::Number};
  EXPECT_EQ(rendered("folded", report), "site_[k] 8\n");
}

TEST(Folded, rows_that_weigh_nothing_or_less_are_left_out) {
  EXPECT_EQ(rendered("folded",
                     report_of(comm_table({{"a", std::uint64_t{0}},
                                           {"b", std::int64_t{-5}},
                                           {"c", Cell()},
                                           {"d", 1.6},
                                           {"", std::int64_t{5}}}))),
            "d 2\n[unknown] 5\n");
}

TEST(Folded, a_report_without_tables_is_empty) {
  EXPECT_EQ(rendered("folded", {.caveats = {.lost = 5, .notes = {"n"}}}), "");
}

}  // namespace
}  // namespace memtrace::formats_test
