#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "render/all/all_renderers.h"
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

TEST(Html, the_page_is_small_and_asks_for_nothing) {
  const std::string page = page_of({});
  EXPECT_LT(page.size(), std::size_t{100} << 10U);
  for (const char* word : {"http-equiv=\"refresh\"", "src=", "href=", "@import", "url("}) {
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace memtrace
