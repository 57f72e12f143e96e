// One page that needs nothing from elsewhere: flame graphs with search and zoom, sortable tables
// and histograms of all views of a report. The page's script draws; here its data is made, as JSON.
#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "base/visible.h"
#include "render/caveats.h"
#include "render/data/json_cells.h"
#include "render/html/html_by_slot.h"
#include "render/html/html_format.h"
#include "render/html/html_frames.h"
#include "render/html/html_timeline.h"
#include "render/html/page.h"
#include "render/moments.h"
#include "render/profile/stack_profile.h"
#include "report/row_order.h"
#include "report/shares.h"

namespace memtrace {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFunctionsInCell = 6;
// Of a table: the page's size and the time until it shows are bounded by it.
constexpr std::size_t kMostRows = 1000;

// Text that may be shown as it is; a stack is its innermost functions.
Json html_cell(const Json& value) {
  if (value.is_string()) {
    return visible(value.get<std::string>());
  }
  if (!value.is_array()) {
    return value;
  }
  std::string functions;
  for (std::size_t i = 0; i < std::min(value.size(), kFunctionsInCell); ++i) {
    functions += (i == 0 ? "" : ", ") + visible(value[i].get<std::string>());
  }
  return functions + (value.size() > kFunctionsInCell ? ", ..." : "");
}

std::string left_out_text(std::size_t rows) {
  return rows == 0 ? ""
                   : " " + counted(rows, "more row is", "more rows are") +
                         " not in this page: --format csv and json have all";
}

Json html_table(const Report& report, const Table& table) {
  Json columns = Json::array();
  for (const Column& column : table.columns) {
    if (const std::string moment = added_column(report, column); !moment.empty()) {
      columns.push_back({{"name", moment}, {"unit", name_of(Unit::Text)}});
    }
    columns.push_back({{"name", visible(column.name)}, {"unit", name_of(column.unit)}});
  }
  if (share_column(table)) {
    columns.push_back({{"name", kShareName}, {"unit", name_of(Unit::Share)}});
  }
  Json rows = Json::array();
  const std::size_t left_out = table.rows.size() - std::min(table.rows.size(), kMostRows);
  for (const auto& cells : std::span(table.rows).first(table.rows.size() - left_out)) {
    Json row = Json::array();
    const Json named = json_row(report, table, cells);
    for (const auto& [name, value] : named.items()) {
      row.push_back(html_cell(value));
    }
    rows.push_back(std::move(row));
  }
  const auto number_of = [&table](const std::string& column) {
    const auto place = find_column(table, column);
    return place ? Json(*place) : Json(nullptr);
  };
  return {{"title", visible(table.title)},
          {"note", visible(table.note) + left_out_text(left_out)},
          {"keys", table.key_count},
          {"sort", table.fixed ? Json(nullptr) : number_of(table.sort)},
          {"share_of", number_of(table.share_of)},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)}};
}

Json html_histogram(const Histogram& histogram) {
  Json buckets = Json::array();
  for (const auto& bucket : histogram.buckets) {
    buckets.push_back({{"low", bucket.low}, {"high", bucket.high}, {"count", bucket.count}});
  }
  return {{"title", visible(histogram.title)},
          {"unit", name_of(histogram.unit)},
          {"buckets", std::move(buckets)}};
}

Json html_series(const Series& series, std::uint64_t start_ns) {
  Json points = Json::array();
  for (const auto& [time_ns, value] : series.points) {
    points.push_back({{"at_ns", Series::at_ns(time_ns, start_ns)}, {"value", value}});
  }
  return {{"title", visible(series.title)},
          {"unit", name_of(series.unit)},
          {"points", std::move(points)}};
}

// The stacks of the first rows, and those that cost most by any other figure; the rest as one.
std::vector<WeightedStack> bounded_stacks(StackProfile profile) {
  constexpr std::size_t kMostByFigure = 200;
  std::vector<WeightedStack>& stacks = profile.stacks;
  if (stacks.size() <= kMostRows) {
    return std::move(stacks);
  }
  std::vector<bool> stays(stacks.size());
  std::fill_n(stays.begin(), kMostRows, true);
  std::vector<std::size_t> order(stacks.size());
  for (std::size_t kind = 0; kind < profile.kinds.size(); ++kind) {
    std::iota(order.begin(), order.end(), 0);
    const auto end = order.begin() + kMostByFigure;
    std::ranges::partial_sort(order, end, [&](std::size_t left, std::size_t right) {
      return std::pair(stacks[right].weights[kind], left) <
             std::pair(stacks[left].weights[kind], right);
    });
    std::for_each(order.begin(), end, [&stays](std::size_t stack) { stays[stack] = true; });
  }
  WeightedStack rest{.steps = {{.name = "[other stacks]"}},
                     .weights = std::vector<std::int64_t>(profile.kinds.size())};
  std::vector<WeightedStack> kept;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (stays[i]) {
      kept.push_back(std::move(stacks[i]));
      continue;
    }
    std::ranges::transform(stacks[i].weights, rest.weights, rest.weights.begin(), std::plus());
  }
  kept.push_back(std::move(rest));
  return kept;
}

Json html_profile(const StackProfile& profile) {
  HtmlFrames frames;
  Json stacks = Json::array();
  for (const WeightedStack& stack : bounded_stacks(profile)) {
    Json numbers = Json::array();
    for (const ProfileStep& step : stack.steps) {
      numbers.push_back(frames.index_of(step));
    }
    stacks.push_back(Json::array({std::move(numbers), stack.weights}));
  }
  Json kinds = Json::array();
  for (const WeightKind& kind : profile.kinds) {
    kinds.push_back({{"name", visible(kind.name)}, {"unit", name_of(kind.unit)}});
  }
  return {{"kinds", std::move(kinds)},
          {"main", profile.main_kind},
          {"frames", frames.take()},
          {"stacks", std::move(stacks)}};
}

Json html_totals(const Report& report) {
  Json totals = Json::array();
  for (const Total& total : report.totals) {
    totals.push_back(
        {{"name", visible(total.name)}, {"unit", name_of(total.unit)}, {"value", total.value}});
  }
  return totals;
}

// Without the reports that it is of.
Json html_view(const Report& report, const Timeline* timeline) {
  Json tables = Json::array();
  for (const Table& table : report.tables) {
    tables.push_back(html_table(report, table));
  }
  Json histograms = Json::array();
  for (const Histogram& histogram : report.histograms) {
    histograms.push_back(html_histogram(histogram));
  }
  Json series = Json::array();
  for (const Series& one : report.series) {
    series.push_back(html_series(one, report.start_ns));
  }
  Json caveats = Json::array();
  for (const std::string& line : caveat_lines(report.caveats)) {
    caveats.push_back(visible(line));
  }
  const auto profiles = stack_profiles(report);
  const bool has_profile =
      !profiles.empty() && profiles.front().report == &report && profiles.front().has_stacks;
  return {{"view", visible(report.view)},
          {"title", visible(report.title.empty() ? report.view : report.title)},
          {"totals", html_totals(report)},
          {"tables", std::move(tables)},
          {"histograms", std::move(histograms)},
          {"series", std::move(series)},
          {"caveats", std::move(caveats)},
          {"by_slot", html_by_slot(timeline, report)},
          {"limits", html_slot_limits(timeline, report)},
          {"profile", has_profile ? html_profile(profiles.front()) : Json(nullptr)}};
}

std::string facts_of(const Report& report) {
  std::string facts = span_text(report);
  for (const std::string& fact :
       {report.origin.host, report.origin.kernel_release, report.origin.target}) {
    facts += facts.empty() || fact.empty() ? "" : ", ";
    facts += fact;
  }
  return visible(facts);
}

// What is known of how the recording was made.
Json html_how(const Report& report) {
  Json how = Json::array();
  const auto add = [&how](const char* name, const std::string& value) {
    if (!value.empty()) {
      how.push_back(Json::array({name, visible(value)}));
    }
  };
  add("recorded", report.origin.target);
  add("time", span_text(report));
  add("host", report.origin.host);
  add("kernel", report.origin.kernel_release);
  add("architecture", report.origin.architecture);
  add("boot id", report.origin.boot_id);
  return how;
}

Json html_data(const Report& report, const std::string& version) {
  const Timeline* timeline = report.timeline.get();
  Json views = Json::array({html_view(report, timeline)});
  for (const Report& nested : report.reports) {
    views.push_back(html_view(nested, timeline));
  }
  return {{"title", visible(report.title.empty() ? report.view : report.title)},
          {"facts", facts_of(report)},
          {"how", html_how(report)},
          {"timeline", html_timeline(report)},
          {"version", version},
          {"views", std::move(views)}};
}

class HtmlRenderer final : public Renderer {
 public:
  explicit HtmlRenderer(const RenderOptions& options) : version_(options.version) {}

  void render(const Report& report, std::ostream& out) const override {
    constexpr std::string_view kPlace = "@DATA@";
    const std::string_view page = html_page();
    const std::size_t place = page.find(kPlace);
    out << page.substr(0, place);
    // No text in the data ends the element that it is in, or begins another.
    for (const char character : json_text(html_data(report, version_), -1)) {
      if (character == '<') {
        out << "\\u003c";
      } else {
        out << character;
      }
    }
    out << page.substr(place + kPlace.size());
  }

 private:
  std::string version_;
};

}  // namespace

std::unique_ptr<Renderer> make_html_renderer(const RenderOptions& options) {
  return std::make_unique<HtmlRenderer>(options);
}

}  // namespace memtrace
