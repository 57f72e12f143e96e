// JSON, schema 1: raw integers in bytes and nanoseconds, null for what is not known. Stacks are
// arrays of function names, innermost first. Fields are only ever added.
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/wall_time.h"
#include "render/cell_names.h"
#include "render/formats.h"
#include "render/moments.h"

namespace memtrace {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

Json cell_of(const Report& report, StackId id) {
  const Frames* frames = frames_of(report, id);
  if (frames == nullptr && id.valid()) {
    return nullptr;
  }
  Json functions = Json::array();
  for (const Frame& frame : frames != nullptr ? *frames : Frames()) {
    functions.push_back(frame.function);
  }
  return functions;
}

Json cell_of(const Report& report, LocationId id) {
  std::string name = location_name(report, id);
  return name.empty() ? Json(nullptr) : Json(std::move(name));
}

Json cell_of(const Report&, std::monostate) {
  return nullptr;
}

Json cell_of(const Report&, double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

template <typename T>
Json cell_of(const Report&, const T& value) {
  return value;
}

// Bytes and nanoseconds are integers in the schema, averages of them too.
Json cell_of(const Report& report, Unit unit, const Cell& cell) {
  constexpr double kLargest = 9.0e18;  // just under 2^63
  const auto* number = std::get_if<double>(&cell);
  const bool is_whole_unit = unit == Unit::Bytes || unit == Unit::Nanoseconds;
  if (number != nullptr && is_whole_unit && std::abs(*number) < kLargest) {
    return std::llround(*number);
  }
  return std::visit([&](const auto& value) { return cell_of(report, value); }, cell);
}

// Before the column: a moment by the clock that was asked for; "" for other columns.
std::string added_column(const Report& report, const Column& column) {
  return column.unit == Unit::Moment ? moment_column(report) : "";
}

Json json_of(const Report& report, const Table& table, const std::vector<Cell>& cells) {
  Json row = Json::object();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (const std::string moment = added_column(report, table.columns[i]); !moment.empty()) {
      row[moment] = cell_of(report, Unit::Text, moment_cell(report, cells[i]));
    }
    row[table.columns[i].name] = cell_of(report, table.columns[i].unit, cells[i]);
  }
  return row;
}

// A program may give itself any bytes as its name: what is not UTF-8 is replaced.
std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
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
  Json rows = Json::array();
  for (const auto& cells : table.rows) {
    rows.push_back(json_of(report, table, cells));
  }
  Json object = {{"title", table.title}, {"columns", columns}, {"rows", std::move(rows)}};
  if (!table.note.empty()) {
    object["note"] = table.note;
  }
  return object;
}

Json json_of(const Histogram& histogram) {
  Json buckets = Json::array();
  for (const auto& bucket : histogram.buckets) {
    buckets.push_back({{"low", bucket.low}, {"high", bucket.high}, {"count", bucket.count}});
  }
  return {{"title", histogram.title}, {"unit", name_of(histogram.unit)}, {"buckets", buckets}};
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
    out << text_of(whole(report, version_), indent_) << '\n';
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
      out << text_of(json_of(lines, table, row), -1) << '\n';
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
