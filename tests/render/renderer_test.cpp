#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "render/all/all_renderers.h"
#include "support/golden.h"
#include "support/sample_report.h"

namespace memtrace::renderer_test {
namespace {

std::string rendered(std::string_view format, const Report& report) {
  std::ostringstream out;
  make_renderer(format, RenderOptions{.version = "1.2.3"})->render(report, out);
  return out.str();
}

TEST(Renderer, each_format_is_found_by_its_name) {
  std::string names;
  for (const NamedRenderer& renderer : all_renderers()) {
    names += std::string(renderer.name) + " ";
    EXPECT_NE(make_renderer(renderer.name, {}), nullptr);
  }
  EXPECT_EQ(names,
            "text json csv ndjson openmetrics folded html svg pprof speedscope firefox massif "
            "heaptrack ");
  EXPECT_EQ(format_names(),
            "text, json, csv, ndjson, openmetrics, folded, html, svg, pprof, speedscope, firefox, "
            "massif, heaptrack");
}

TEST(Renderer, an_unknown_format_is_none) {
  EXPECT_EQ(make_renderer("xml", {}), nullptr);
  EXPECT_EQ(make_renderer("", {}), nullptr);
}

TEST(Renderer, a_report_with_every_shape_is_the_golden_text) {
  test::expect_golden("sample.txt", rendered("text", test::sample_report()));
}

TEST(Renderer, totals_break_between_figures_never_within_one) {
  const Report report{.title = "x",
                      .totals = {{"requests_of_all", Unit::Count, 123456},
                                 {"duration", Unit::Nanoseconds, 1'500'000'000},
                                 {"bytes", Unit::Bytes, 4096}}};
  std::ostringstream out;
  make_renderer("text", RenderOptions{.columns = 40})->render(report, out);
  EXPECT_NE(out.str().find("Total: requests_of_all 123,456,\n  duration 1.50 s, bytes 4.0 KiB\n"),
            std::string::npos)
      << out.str();
}

TEST(Renderer, a_report_with_every_shape_is_the_golden_json) {
  test::expect_golden("sample.json", rendered("json", test::sample_report()));
}

TEST(Renderer, a_report_with_every_shape_is_the_golden_csv) {
  test::expect_golden("sample.csv", rendered("csv", test::sample_report()));
}

TEST(Renderer, a_report_with_every_shape_is_the_golden_folded_stacks) {
  test::expect_golden("sample.folded", rendered("folded", test::sample_report()));
}

TEST(Renderer, a_report_with_every_shape_is_the_golden_ndjson) {
  test::expect_golden("sample.ndjson", rendered("ndjson", test::sample_report()));
}

TEST(Renderer, a_report_with_every_shape_is_the_golden_openmetrics) {
  test::expect_golden("sample.prom", rendered("openmetrics", test::sample_report()));
}

TEST(Renderer, a_report_with_every_shape_is_the_golden_picture) {
  test::expect_golden("sample.svg", rendered("svg", test::sample_report()));
}

TEST(Renderer, a_report_with_every_shape_is_the_golden_speedscope_file) {
  test::expect_golden("sample.speedscope.json", rendered("speedscope", test::sample_report()));
}

TEST(Renderer, a_report_with_every_shape_is_the_golden_firefox_profile) {
  test::expect_golden("sample.firefox.json", rendered("firefox", test::sample_report()));
}

TEST(Renderer, an_overview_is_the_golden_text) {
  test::expect_golden("overview.txt", rendered("text", test::sample_overview()));
}

TEST(Renderer, an_overview_is_the_golden_json) {
  test::expect_golden("overview.json", rendered("json", test::sample_overview()));
}

TEST(Renderer, an_overview_is_the_golden_csv) {
  test::expect_golden("overview.csv", rendered("csv", test::sample_overview()));
}

TEST(Renderer, an_overview_is_the_golden_folded_stacks) {
  test::expect_golden("overview.folded", rendered("folded", test::sample_overview()));
}

TEST(Renderer, an_overview_is_the_golden_ndjson) {
  test::expect_golden("overview.ndjson", rendered("ndjson", test::sample_overview()));
}

TEST(Renderer, an_overview_is_the_golden_openmetrics) {
  test::expect_golden("overview.prom", rendered("openmetrics", test::sample_overview()));
}

}  // namespace
}  // namespace memtrace::renderer_test
