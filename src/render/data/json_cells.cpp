#include "render/data/json_cells.h"

#include <cmath>
#include <utility>

#include "render/cell_names.h"
#include "render/moments.h"
#include "report/shares.h"

namespace memtrace {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

double rounded_share(double share) {
  return std::round(share * 1e6) / 1e6;
}

std::string added_column(const Report& report, const Column& column) {
  return column.unit == Unit::Moment ? moment_column(report) : "";
}

nlohmann::ordered_json json_row(const Report& report,
                                const Table& table,
                                const std::vector<Cell>& cells) {
  Json row = Json::object();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (const std::string moment = added_column(report, table.columns[i]); !moment.empty()) {
      row[moment] = cell_of(report, Unit::Text, moment_cell(report, cells[i]));
    }
    row[table.columns[i].name] = cell_of(report, table.columns[i].unit, cells[i]);
  }
  if (share_column(table)) {
    const auto share = share_of(table, cells);
    row[kShareName] = share ? Json(rounded_share(*share)) : Json(nullptr);
  }
  return row;
}

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace memtrace
