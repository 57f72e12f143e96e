#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "render/all/all_renderers.h"
#include "report/timeline.h"
#include "support/sample_report.h"

namespace memtrace {
namespace {

using Json = nlohmann::json;

std::string page_of(const Report& report) {
  std::ostringstream out;
  make_renderer("html", {.version = "1.2.3"})->render(report, out);
  return out.str();
}

std::string data_text(const std::string& page) {
  constexpr std::string_view kBegin = "id=\"data\">";
  const std::size_t begin = page.find(kBegin) + kBegin.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

TEST(Html, the_page_holds_the_reports_figures) {
  const Json data = Json::parse(data_text(page_of(test::sample_report())));
  const Json& view = data.at("views").at(0);
  EXPECT_EQ(view.at("view"), "kmalloc");
  EXPECT_EQ(view.at("totals").at(1).at("value"), 1489217639U);
  EXPECT_EQ(view.at("tables").at(0).at("rows").at(0).at(4), 1489215488U);
  const Json& profile = view.at("profile");
  EXPECT_EQ(profile.at("kinds").at(1).at("name"), "bytes_alloc");
  EXPECT_EQ(profile.at("stacks").at(0).at(1).at(1), 1489215488U);
  EXPECT_EQ(profile.at("frames").at(2), Json::array({"main", "demo", 1}));
  EXPECT_EQ(view.at("caveats").at(0), "Lost: 1,234 events (kernel ring full 1,200, late 34).");
}

TEST(Html, each_report_of_an_overview_is_a_view) {
  const Json data = Json::parse(data_text(page_of(test::sample_overview())));
  ASSERT_EQ(data.at("views").size(), 3U);
  EXPECT_EQ(data.at("views").at(1).at("view"), "faults");
  EXPECT_TRUE(data.at("views").at(1).at("profile").is_null());  // it has no stacks
}

TEST(Html, a_name_ends_no_element) {
  Report report = test::sample_report();
  report.title = "</script><script>alert(1)</script>\x1b[2J";
  const std::string page = page_of(report);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_EQ(Json::parse(data_text(page)).at("title"), "</script><script>alert(1)</script>\\x1b[2J");
}

TEST(Html, many_rows_are_bounded_and_nothing_of_the_cost_is_lost) {
  Report report = test::sample_report();
  Table& table = report.tables.front();
  const auto row = table.rows.front();
  table.last_is_rest = false;
  table.rows.assign(5000, row);
  const Json data = Json::parse(data_text(page_of(report)));
  const Json& view = data.at("views").at(0);
  EXPECT_EQ(view.at("tables").at(0).at("rows").size(), 1000U);
  EXPECT_NE(view.at("tables").at(0).at("note").get<std::string>().find("4,000 more rows are not"),
            std::string::npos);
  const Json& stacks = view.at("profile").at("stacks");
  EXPECT_LE(stacks.size(), 2000U);
  std::uint64_t bytes = 0;
  for (const Json& stack : stacks) {
    bytes += stack.at(1).at(1).get<std::uint64_t>();
  }
  EXPECT_EQ(bytes, std::uint64_t{5000} * 1489215488);
}

TEST(Html, the_timeline_is_numbers_by_source_and_slot) {
  Report report = test::sample_report();
  auto timeline = std::make_shared<Timeline>();
  timeline->start_ns = report.start_ns + 500;
  timeline->slot_ns = 1'000'000;
  timeline->slot_count = 3;
  timeline->stacks[StackId{9}] = {{.function = "inner"}, {.function = "<outer>"}};
  timeline->subjects.push_back(
      {.name = "heap",
       .views = {"malloc"},
       .figures = {{"bytes", Unit::Bytes}, {"allocs"}, {"freed", Unit::Bytes}},
       .has_level = true,
       .sources = {{.stack = StackId{9}, .comm = "a\x1b", .amounts = {{2, {10, 1, 0}}}},
                   {.is_rest = true, .amounts = {{0, {5, 2, 1}}, {1, {6, 3, 2}}}}}});
  timeline->lanes.push_back(
      {.name = "resident memory", .unit = Unit::Bytes, .is_level = true, .values = {1, {}, 3}});
  timeline->marks.push_back({report.start_ns + 7, "OOM kill: x (1)"});
  timeline->losses.push_back({report.start_ns + 1, report.start_ns + 2, 33});
  report.timeline = timeline;
  const Json line = Json::parse(data_text(page_of(report))).at("timeline");
  EXPECT_EQ(line.at("start_ns"), 500);
  EXPECT_EQ(line.at("slots"), 3);
  const Json& heap = line.at("subjects").at(0);
  EXPECT_EQ(heap.at("comms"), Json::array({"a\\x1b"}));
  EXPECT_EQ(heap.at("sources"), Json::parse("[[0,0,0],[-1,-1,1]]"));
  EXPECT_EQ(heap.at("amounts"), Json::parse("[0,2,10,1,0, 1,0,5,2,1, 1,1,6,3,2]"));
  EXPECT_EQ(line.at("frames").at(0).at(0), "<outer>");  // outermost first
  EXPECT_EQ(line.at("stacks"), Json::parse("[[0,1]]"));
  EXPECT_EQ(line.at("lanes").at(0).at("values"), Json::parse("[1,null,3]"));
  EXPECT_EQ(line.at("marks").at(0).at("at_ns"), 7);
  EXPECT_EQ(line.at("losses"), Json::parse(R"([{"from_ns":1,"to_ns":2,"count":33}])"));
}

TEST(Html, a_part_by_slot_is_numbers_by_row_and_slot) {
  using How = Timeline::Joining::How;
  Report report = test::sample_report();
  auto timeline = std::make_shared<Timeline>();
  timeline->slot_count = 3;
  timeline->reported_slots = {0, 2};
  timeline->reports.push_back(
      {.view = report.view,
       .parts = {{.kind = Timeline::ReportPart::Kind::Table,
                  .index = 0,
                  .joinings = {{How::Sum}, {How::Last}, {How::Mean, 0, 1}, {How::Unknown}},
                  .rows = {{.row = 1, .slots = {{.slot = 2, .figures = {5, 0.5, {}, {}}}}}},
                  .rest = {{.slot = 0, .figures = {7, {}, {}, {}}}},
                  .unknown_rows = 3}},
       .limits = {"Too many\x1b rows."}});
  report.timeline = timeline;
  const Json data = Json::parse(data_text(page_of(report)));
  EXPECT_EQ(data.at("timeline").at("reported"), Json::parse("[0,2]"));
  const Json& part = data.at("views").at(0).at("by_slot").at(0);
  EXPECT_EQ(part.at("kind"), "table");
  EXPECT_EQ(part.at("joinings"), Json::parse(R"(["sum","last",[0,1],null])"));
  EXPECT_EQ(part.at("rows"), Json::parse("[1]"));
  EXPECT_EQ(part.at("amounts"), Json::parse("[0,2,5,0.5,null,null, -1,0,7,null,null,null]"));
  EXPECT_EQ(part.at("unknown_rows"), 3);
  EXPECT_EQ(data.at("views").at(0).at("limits"), Json::parse(R"(["Too many\\x1b rows."])"));
  EXPECT_EQ(data.at("views").at(0).at("tables").at(0).at("keys"), 3);
}

TEST(Html, without_a_timeline_there_is_none) {
  EXPECT_TRUE(Json::parse(data_text(page_of(test::sample_report()))).at("timeline").is_null());
}

TEST(Html, the_page_is_small_and_asks_for_nothing) {
  const std::string page = page_of({});
  EXPECT_LT(page.size(), std::size_t{100} << 10U);
  for (const char* word : {"http-equiv=\"refresh\"", "src=", "href=", "@import", "url("}) {
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace memtrace
