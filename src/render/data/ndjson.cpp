// JSON, one object a line: each row of each table, which says itself which machine, time, view and
// table it is of. For engines that read files of many machines at once. Values are those of json.
#include <nlohmann/json.hpp>
#include <string>

#include "render/data/data_formats.h"
#include "render/data/host_columns.h"
#include "render/data/json_cells.h"

namespace memtrace {
namespace {

using Json = nlohmann::ordered_json;

// All lines of one report begin alike.
class NdjsonReport {
 public:
  NdjsonReport(const Report& report, std::ostream& out) : report_(report), out_(out) {
    for (const HostColumn& column : host_columns(report)) {
      head_[column.name] = column.value.empty() ? Json(nullptr) : Json(column.value);
    }
  }

  void write() const {
    write_totals();
    for (const Table& table : report_.tables) {
      for (const auto& cells : table.rows) {
        line(table.title, json_row(report_, table, cells));
      }
    }
    for (const Histogram& histogram : report_.histograms) {
      for (const auto& bucket : histogram.buckets) {
        line(histogram.title,
             {{"low", bucket.low}, {"high", bucket.high}, {"count", bucket.count}});
      }
    }
    for (const Series& series : report_.series) {
      for (const auto& [time_ns, value] : series.points) {
        line(series.title, {{"at_ns", Series::at_ns(time_ns, report_.start_ns)}, {"value", value}});
      }
    }
  }

 private:
  // With what is missing in them.
  void write_totals() const {
    Json row = Json::object();
    for (const Total& total : report_.totals) {
      row[total.name] = total.value;
    }
    row["lost"] = report_.caveats.missing();
    line("totals", row);
  }

  // A column that has the name of one of ours is not hidden by it.
  void line(const std::string& table, const Json& row) const {
    Json object = head_;
    object["table"] = table;
    for (const auto& [name, value] : row.items()) {
      object[object.contains(name) ? name + "_" : name] = value;
    }
    out_ << json_text(object, -1) << '\n';
  }

  const Report& report_;
  std::ostream& out_;
  Json head_ = Json::object();
};

class NdjsonRenderer final : public Renderer {
 public:
  void render(const Report& report, std::ostream& out) const override {
    NdjsonReport(report, out).write();
    for (const Report& nested : report.reports) {
      render(nested, out);
    }
  }
};

}  // namespace

std::unique_ptr<Renderer> make_ndjson_renderer(const RenderOptions&) {
  return std::make_unique<NdjsonRenderer>();
}

}  // namespace memtrace
