// JSON, schema 1: raw integers in bytes and nanoseconds, null for what is not known. Stacks are
// arrays of function names, innermost first. Fields are only ever added.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/wall_time.h"
#include "render/data/data_formats.h"
#include "render/data/json_cells.h"
#include "render/moments.h"
#include "report/row_histograms.h"
#include "report/shares.h"

namespace memtrace {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

Json json_of(const Histogram& histogram) {
  Json buckets = Json::array();
  for (const auto& bucket : histogram.buckets) {
    buckets.push_back({{"low", bucket.low}, {"high", bucket.high}, {"count", bucket.count}});
  }
  return {{"title", histogram.title}, {"unit", name_of(histogram.unit)}, {"buckets", buckets}};
}

Json json_of(const Report& report, const Table& table) {
  Json columns = Json::array();
  for (const Column& column : table.columns) {
    if (const std::string moment = added_column(report, column); !moment.empty()) {
      const Unit unit = report.clock.shows_wall() ? Unit::Text : Unit::Nanoseconds;
      columns.push_back({{"name", moment}, {"unit", name_of(unit)}});
    }
    columns.push_back({{"name", column.name}, {"unit", name_of(column.unit)}});
  }
  if (share_column(table)) {
    columns.push_back({{"name", kShareName}, {"unit", name_of(Unit::Share)}});
  }
  Json rows = Json::array();
  for (const auto& cells : table.rows) {
    rows.push_back(json_row(report, table, cells));
    if (const Histogram* histogram = histogram_of(table, cells)) {
      rows.back()["histogram"] = json_of(*histogram);
    }
  }
  Json object = {{"title", table.title}, {"columns", columns}, {"rows", std::move(rows)}};
  if (share_column(table)) {
    object["share_of"] = table.share_of;
  }
  if (!table.note.empty()) {
    object["note"] = table.note;
  }
  return object;
}

double share_of(std::uint64_t part, std::uint64_t whole) {
  return rounded_share(static_cast<double>(part) / static_cast<double>(whole));
}

Json json_of(const CallNode& node, std::uint64_t whole) {
  Json object = {{"function", node.frame.function}, {"module", node.frame.module}};
  if (!node.frame.file.empty()) {
    object["file"] = node.frame.file;
    object["line"] = node.frame.line == 0 ? Json(nullptr) : Json(node.frame.line);
  }
  object.update({{"total", node.total},
                 {"share", share_of(node.total, whole)},
                 {"own", node.own},
                 {"children", Json::array()}});
  for (const CallNode& child : node.children) {
    object["children"].push_back(json_of(child, whole));
  }
  if (node.other_count > 0) {
    object["others"] = {{"count", node.other_count},
                        {"total", node.other_total},
                        {"share", share_of(node.other_total, whole)}};
  }
  return object;
}

Json json_of(const CallTree& tree) {
  const Json root = json_of(tree.root, std::max<std::uint64_t>(tree.whole, 1));
  Json object = {{"title", tree.title},
                 {"order", tree.order == TreeOrder::Caller ? "caller" : "callee"},
                 {"figure", tree.figure.name},
                 {"unit", name_of(tree.figure.unit)},
                 {"total", tree.root.total},
                 {"children", root.at("children")}};
  if (root.contains("others")) {
    object["others"] = root.at("others");
  }
  if (!tree.note.empty()) {
    object["note"] = tree.note;
  }
  return object;
}

Json json_of(const Series& series, std::uint64_t start_ns) {
  Json points = Json::array();
  for (const auto& [time_ns, value] : series.points) {
    points.push_back({{"at_ns", Series::at_ns(time_ns, start_ns)}, {"value", value}});
  }
  return {{"title", series.title}, {"unit", name_of(series.unit)}, {"points", points}};
}

// "lost" is everything that is missing; its parts follow, what the kernel lost as "kernel".
Json json_of(const Caveats& caveats) {
  return {{"lost", caveats.missing()},
          {"kernel", caveats.lost},
          {"late", caveats.late},
          {"overload", caveats.overload},
          {"malformed", caveats.malformed},
          {"disk_full", caveats.disk_full},
          {"cut", caveats.cut},
          {"unmatched", caveats.unmatched},
          {"notes", caveats.notes}};
}

Json whole(const Report& report, const std::string& version) {
  Json totals = Json::object();
  for (const Total& total : report.totals) {
    totals[total.name] = total.value;
  }
  Json object = {{"schema", kSchema},
                 {"version", version},
                 {"view", report.view},
                 {"start_ns", report.start_ns},
                 {"end_ns", report.end_ns}};
  if (const std::uint64_t start_ns = report.clock.wall_start_ns; start_ns != 0) {
    object["start_time"] = rfc3339(start_ns);
    object["end_time"] = rfc3339(start_ns + (report.end_ns - report.start_ns));
  }
  object.update({{"totals", totals},
                 {"tables", Json::array()},
                 {"histograms", Json::array()},
                 {"series", Json::array()}});
  for (const Table& table : report.tables) {
    object["tables"].push_back(json_of(report, table));
  }
  for (const CallTree& tree : report.trees) {
    object["trees"].push_back(json_of(tree));
  }
  for (const Histogram& histogram : report.histograms) {
    object["histograms"].push_back(json_of(histogram));
  }
  for (const Series& series : report.series) {
    object["series"].push_back(json_of(series, report.start_ns));
  }
  if (report.view == "overview" || !report.reports.empty()) {
    Json& reports = object["reports"] = Json::array();
    for (const Report& nested : report.reports) {
      reports.push_back(whole(nested, version));
    }
  }
  object["caveats"] = json_of(report.caveats);
  return object;
}

class JsonRenderer final : public Renderer {
 public:
  explicit JsonRenderer(const RenderOptions& options)
      : version_(options.version), indent_(options.one_line ? -1 : 1) {}

  void render(const Report& report, std::ostream& out) const override {
    out << json_text(whole(report, version_), indent_) << '\n';
  }

 private:
  std::string version_;
  int indent_ = 1;
};

// An object a line, as the rows of a table have them.
class JsonLines final : public LineRenderer {
 public:
  void render(const Report& lines, std::ostream& out) override {
    const Table& table = lines.tables.front();
    for (const auto& row : table.rows) {
      out << json_text(json_row(lines, table, row), -1) << '\n';
    }
  }
};

}  // namespace

std::unique_ptr<Renderer> make_json_renderer(const RenderOptions& options) {
  return std::make_unique<JsonRenderer>(options);
}

std::unique_ptr<LineRenderer> make_json_lines(const LineOptions&) {
  return std::make_unique<JsonLines>();
}

}  // namespace memtrace
